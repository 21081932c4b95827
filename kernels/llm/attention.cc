#include "kernels/llm/attention.h"

#include <array>
#include <cmath>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "kernels/llm/cache.h"
#include "kernels/util/checks.h"

namespace vitrine::llm {

namespace {

using Sizes4 = std::array<int32_t, 4>;

struct Axes {
  size_t tokens;
  size_t heads;
};

Axes axes_of(const AttentionCall& call) {
  return call.heads_before_tokens ? Axes{2, 1} : Axes{1, 2};
}

Rows make_rows(const Tensor& tensor, const Axes& axes) {
  const int64_t width = tensor.size(3);
  const int64_t inner = tensor.size(2);
  Rows rows{&tensor, tensor.size(1) * inner * width, inner * width, width, width};
  if (axes.tokens == 2) std::swap(rows.token_stride, rows.head_stride);
  return rows;
}

// Fails unless an int8 tensor has scales and zero points, and a floating-point tensor has neither.
bool add_parameters(KernelContext& context, const Tensor* zero_points, const Tensor* scales,
                    Rows& rows) {
  const bool quantized = rows.tensor->dtype() == ScalarType::kChar;
  if (quantized != (zero_points != nullptr) || quantized != (scales != nullptr)) {
    context.fail(ErrorCode::kInvalidArgument,
                 "i8 tensors need zero points and scales; float tensors must not have them");
    return false;
  }
  if (!quantized) return true;
  const Tensor& tensor = *rows.tensor;
  const Sizes4 sizes = {tensor.size(0), tensor.size(1), tensor.size(2), 1};
  if (!check_dtype(context, *zero_points, ScalarType::kChar, "zero_points") ||
      !check_dtype(context, *scales, ScalarType::kFloat, "scales") ||
      !check_sizes(context, *zero_points, sizes, "zero_points") ||
      !check_sizes(context, *scales, sizes, "scales") ||
      !check_contiguous(context, *zero_points, "zero_points") ||
      !check_contiguous(context, *scales, "scales") ||
      !check_data(context, {zero_points, scales})) {
    return false;
  }
  rows.scales = scales->unchecked_data<float>();
  rows.zero_points = zero_points->unchecked_data<int8_t>();
  return true;
}

bool check_dtypes(KernelContext& context, const AttentionCall& call, const Tensor& out) {
  const ScalarType dtype = call.query.dtype();
  const bool quantized = dtype == ScalarType::kChar && call.scales[0] != nullptr;
  if (!quantized && !check_dtype_in<TypeList<float, Half, BFloat16>>(context, call.query)) {
    return false;
  }
  return check_dtype(context, call.key, dtype, "key") &&
         check_dtype(context, call.value, dtype, "value") &&
         check_dtype(context, out, quantized ? ScalarType::kFloat : dtype, "out");
}

// Fails unless the shapes match and there is at least one query token.
bool check_shapes(KernelContext& context, const AttentionCall& call) {
  const auto& [query, key, value] = std::tie(call.query, call.key, call.value);
  const auto [tokens, heads] = axes_of(call);
  if (!check_rank(context, query, 4, "query") || !check_rank(context, key, 4, "key") ||
      !check_contiguous(context, query, "query") || !check_contiguous(context, key, "key") ||
      !check_sizes(context, value, key.sizes(), "value") ||
      !check_contiguous(context, value, "value")) {
    return false;
  }
  if (key.size(0) != query.size(0) || key.size(3) != query.size(3)) {
    context.fail(ErrorCode::kInvalidArgument,
                 "query has %d batches and width %d, but key has %d batches and width %d",
                 query.size(0), query.size(3), key.size(0), key.size(3));
    return false;
  }
  if (query.size(tokens) == 0) {
    context.fail(ErrorCode::kInvalidArgument, "query has no tokens");
    return false;
  }
  const int32_t shared = key.size(heads);
  if (shared == 0 || query.size(heads) % shared != 0) {
    context.fail(ErrorCode::kInvalidArgument,
                 "number of query heads (%d) is not a multiple of the number of key heads (%d)",
                 query.size(heads), shared);
    return false;
  }
  return true;
}

// Number of keys to which queries may attend. Fails if the positions exceed the cache.
std::optional<int64_t> count_keys(KernelContext& context, const AttentionCall& call) {
  const int64_t tokens = call.query.size(axes_of(call).tokens);
  const int64_t length = call.key.size(axes_of(call).tokens);
  if (call.attn_mask != nullptr) {
    if (call.is_causal) {
      context.fail(ErrorCode::kInvalidArgument, "attn_mask and is_causal cannot be combined");
      return std::nullopt;
    }
    const Tensor& mask = *call.attn_mask;
    const std::array sizes = {static_cast<int32_t>(tokens), static_cast<int32_t>(length)};
    if (call.start_pos < 0) {
      context.fail(ErrorCode::kInvalidArgument, "start_pos %lld is negative",
                   static_cast<long long>(call.start_pos));
      return std::nullopt;
    }
    if (!check_dtype(context, mask, ScalarType::kFloat, "attn_mask") ||
        !check_sizes(context, mask, sizes, "attn_mask") ||
        !check_contiguous(context, mask, "attn_mask")) {
      return std::nullopt;
    }
    return length;
  }
  if (!check_positions(context, call.start_pos, tokens, length)) return std::nullopt;
  return call.start_pos + tokens;
}

}  // namespace

std::optional<Attention> make_attention(KernelContext& context, const AttentionCall& call,
                                        Tensor& out) {
  if (!check_dtypes(context, call, out) || !check_shapes(context, call)) return std::nullopt;
  const std::optional<int64_t> keys = count_keys(context, call);
  if (&out == &call.key || &out == &call.value) {
    context.fail(ErrorCode::kInvalidArgument, "out must not be key or value");
    return std::nullopt;
  }
  const std::initializer_list<const Tensor*> inputs = {
      &call.query,         &call.key,          &call.value,    call.attn_mask,
      call.scales[0],      call.scales[1],     call.scales[2], call.zero_points[0],
      call.zero_points[1], call.zero_points[2]};
  if (!keys || !context.resize(out, call.query.sizes()) || !check_contiguous(context, out, "out") ||
      !check_data(context, inputs) || !check_data(context, {&out}) ||
      !check_no_overlap(context, out, inputs)) {
    return std::nullopt;
  }
  const Axes axes = axes_of(call);
  const double width = call.query.size(3);
  Attention result{call.query.size(0),
                   call.query.size(axes.tokens),
                   *keys,
                   call.query.size(axes.heads),
                   call.key.size(axes.heads),
                   call.query.size(3),
                   make_rows(call.query, axes),
                   make_rows(call.key, axes),
                   make_rows(call.value, axes),
                   &out,
                   call.attn_mask == nullptr ? nullptr : call.attn_mask->unchecked_data<float>(),
                   call.is_causal,
                   call.start_pos,
                   static_cast<float>(call.scale.value_or(1 / std::sqrt(width)))};
  Rows* const rows[] = {&result.query, &result.key, &result.value};
  for (size_t i = 0; i < std::size(rows); ++i) {
    if (!add_parameters(context, call.zero_points[i], call.scales[i], *rows[i])) {
      return std::nullopt;
    }
  }
  return result;
}

void attention(KernelContext& context, const AttentionCall& call, Tensor& out, Attend compute) {
  const std::optional<Attention> arguments = make_attention(context, call, out);
  if (arguments && out.numel() > 0) compute(context, *arguments);
}

void attention_with_cache(KernelContext& context, const CachedAttentionCall& call, Tensor& out,
                          Attend compute) {
  if (!check_cache(context, call.key, call.key_cache) ||
      !check_cache(context, call.value, call.value_cache)) {
    return;
  }
  if (call.seq_len != call.key.size(1) || call.key.size(1) != call.value.size(1)) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "seq_len is %lld, but key has %d tokens and value %d",
                        static_cast<long long>(call.seq_len), call.key.size(1), call.value.size(1));
  }
  if (!check_positions(context, call.start_pos, call.seq_len, call.key_cache.size(1))) return;
  const std::optional<Attention> arguments =
      make_attention(context,
                     {call.query, call.key_cache, call.value_cache, call.start_pos, call.attn_mask,
                      call.is_causal, call.scale},
                     out);
  // The caches must not overlap the query and the mask, which are read after the caches are
  // written.
  if (!arguments || !check_no_overlap(context, out, {&call.key, &call.value}) ||
      !check_no_overlap(context, call.key_cache,
                        {&call.query, &call.key, &call.value, &call.value_cache, call.attn_mask}) ||
      !check_no_overlap(context, call.value_cache,
                        {&call.query, &call.key, &call.value, call.attn_mask})) {
    return;
  }
  write_cache(call.key, call.key_cache, call.start_pos);
  write_cache(call.value, call.value_cache, call.start_pos);
  if (out.numel() > 0) compute(context, *arguments);
}

}  // namespace vitrine::llm
