#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/util/checks.h"
#include "kernels/util/independent.h"
#include "kernels/util/parallel.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

// Number of value columns that are computed together, so that their part of the state stays in the
// processor's cache.
constexpr int64_t kStrip = 64;

struct DeltaRule {
  const float* query;  // [heads, keys], with query_stride between heads
  const float* key;    // [keys]
  const float* value;  // [width]
  const float* decay;  // [keys], or one float for all of them
  float beta;
  float* out;  // [heads, width], with out_stride between heads
  int64_t heads;
  int64_t keys;
  int64_t values;  // floats between two rows of the state
  int64_t width;
  int64_t decay_stride;  // 1, or 0 if all keys have the same decay
  int64_t query_stride;
  int64_t out_stride;
};

// Updates `state`, a [keys, width] matrix, with one token: multiplies each row by its decay, then
// adds beta * key * (value - prediction). The prediction is the product of the key and the decayed
// state. The output of each query is the product of the query and the new state.
void step(const DeltaRule& a, float* state) {
  alignas(64) float error[kStrip] = {};
  std::copy_n(a.value, a.width, error);
  for (int64_t k = 0; k < a.keys; ++k) {
    float* const row = state + k * a.values;
    const float decay = a.decay[k * a.decay_stride];
    const float key = a.key[k];
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t v = 0; v < a.width; ++v) {
      row[v] *= decay;
      error[v] -= row[v] * key;
    }
  }
  for (float& element : error) element *= a.beta;
  alignas(64) float result[kStrip] = {};
  for (int64_t k = 0; k < a.keys; ++k) {
    float* const row = state + k * a.values;
    const float query = a.query[k];
    const float key = a.key[k];
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t v = 0; v < a.width; ++v) {
      row[v] += key * error[v];
      result[v] += query * row[v];
    }
  }
  std::copy_n(result, a.width, a.out);
  // The heads of a group share the state, so only the first head updates the state.
  for (int64_t head = 1; head < a.heads; ++head) {
    const float* const queries = a.query + head * a.query_stride;
    float* const out = a.out + head * a.out_stride;
    std::fill_n(out, a.width, 0.0F);
    for (int64_t k = 0; k < a.keys; ++k) {
      const float* const row = state + k * a.values;
      VITRINE_INDEPENDENT_ITERATIONS
      for (int64_t v = 0; v < a.width; ++v) out[v] += queries[k] * row[v];
    }
  }
}

[[gnu::noinline]] bool check(KernelContext& context, const Tensor& tensor,
                             std::span<const int32_t> sizes, const char* name) {
  return check_dtype(context, tensor, ScalarType::kFloat, name) &&
         check_sizes(context, tensor, sizes, name) && check_contiguous(context, tensor, name) &&
         check_data(context, {&tensor});
}

// Work per element of the state in each step: the time in ns, multiplied by kWorkPerNs.
constexpr int64_t kWorkPerStep = 12;

// Shapes: query [batches, heads, tokens, keys]; key [batches, state heads, tokens, keys]; value
// [batches, state heads, tokens, values]; decay [batches, state heads, tokens, keys] or [batches,
// state heads, tokens]; beta [batches, state heads, tokens]; states [batches, state heads, keys,
// values]; out [batches, heads, tokens, values]. `heads` is a multiple of `state heads`:
// consecutive heads share a state.
void gated_delta_rule_out(KernelContext& context, const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& decay, const Tensor& beta,
                          const Tensor& initial_state, Tensor& out, Tensor& final_state_out) {
  if (!check_rank(context, query, 4, "query") || !check_rank(context, key, 4, "key") ||
      !check_rank(context, value, 4, "value")) {
    return;
  }
  const int32_t state_heads = key.size(1);
  if (state_heads == 0 || query.size(1) == 0 || query.size(1) % state_heads != 0) {
    context.fail(ErrorCode::kInvalidArgument,
                 "query has %d heads, which is not a positive multiple of the %d heads of key",
                 query.size(1), state_heads);
    return;
  }
  const int64_t group = query.size(1) / state_heads;
  const int32_t tokens = query.size(2);
  const int32_t keys = query.size(3);
  const int32_t values = value.size(3);
  const std::array queries = {query.size(0), query.size(1), tokens, keys};
  const std::array in = {query.size(0), state_heads, tokens, keys};
  const std::array wide = {query.size(0), state_heads, tokens, values};
  const std::array state = {query.size(0), state_heads, keys, values};
  const std::array results = {query.size(0), query.size(1), tokens, values};
  const bool has_scalar_decay = decay.rank() == 3;
  if (!check(context, query, queries, "query") || !check(context, key, in, "key") ||
      !check(context, decay, std::span(in).first(has_scalar_decay ? 3 : 4), "decay") ||
      !check(context, value, wide, "value") ||
      !check(context, beta, std::span(in).first(3), "beta") ||
      !check(context, initial_state, state, "initial_state") || !context.resize(out, results) ||
      !context.resize(final_state_out, state) || !check(context, out, results, "out") ||
      !check(context, final_state_out, state, "final_state_out")) {
    return;
  }
  // final_state_out may be the same tensor as initial_state.
  if (initial_state.numel() > 0) {
    std::memmove(final_state_out.mutable_raw_data(), initial_state.raw_data(),
                 initial_state.nbytes());
  }
  if (beta.numel() == 0 || values == 0) return;
  const int64_t strips = (int64_t{values} + kStrip - 1) / kStrip;
  const int64_t lines = int64_t{in[0]} * in[1];
  const int64_t decay_stride = has_scalar_decay ? 0 : 1;
  const int64_t work =
      work_of({kWorkPerStep / 2, 1 + group, tokens, keys, std::min(int64_t{values}, kStrip)});
  parallel_ranges(context, lines * strips, 1, work, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t line = item / strips;
      const int64_t v = item % strips * kStrip;
      float* const strip =
          keys == 0 ? nullptr
                    : final_state_out.unchecked_mutable_data<float>() + line * keys * values + v;
      for (int64_t token = 0; token < tokens; ++token) {
        const int64_t i = line * tokens + token;
        const int64_t first = line * group * tokens + token;  // index of the group's first query
        step({.query = query.unchecked_data<float>() + first * keys,
              .key = key.unchecked_data<float>() + i * keys,
              .value = value.unchecked_data<float>() + i * values + v,
              .decay = decay.unchecked_data<float>() + i * (has_scalar_decay ? 1 : keys),
              .beta = beta.unchecked_data<float>()[i],
              .out = out.unchecked_mutable_data<float>() + first * values + v,
              .heads = group,
              .keys = keys,
              .values = values,
              .width = std::min(values - v, kStrip),
              .decay_stride = decay_stride,
              .query_stride = int64_t{tokens} * keys,
              .out_stride = int64_t{tokens} * values},
             strip);
      }
    }
  });
}

}  // namespace

VITRINE_KERNEL(gated_delta_rule_out, "llama::gated_delta_rule.out", gated_delta_rule_out);
// The operator's name before ExecuTorch 1.5.
VITRINE_KERNEL(channelwise_gated_delta_rule_out, "llama::channelwise_gated_delta_rule.out",
               gated_delta_rule_out);

}  // namespace vitrine::llm
