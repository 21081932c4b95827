#include "kernels/util/checks.h"

#include <cstdio>
#include <functional>

namespace vitrine {

namespace {

struct Text {
  explicit Text(const Tensor& tensor) { describe(tensor, chars, sizeof chars); }
  char chars[160];
};

}  // namespace

void fail_unsupported_dtype(KernelContext& context, ScalarType type) {
  if (is_valid(type) && !is_selected(type)) {
    return context.fail(ErrorCode::kNotSupported,
                        "dtype %s is not in this build: add it to VITRINE_SELECT_OPS",
                        scalar_type_name(type));
  }
  context.fail(ErrorCode::kInvalidArgument, "this operator does not support dtype %s (%d)",
               scalar_type_name(type), static_cast<int>(type));
}

void fail_dim(KernelContext& context, int64_t dim, size_t rank) {
  const int64_t count = rank == 0 ? 1 : static_cast<int64_t>(rank);
  context.fail(ErrorCode::kInvalidArgument,
               "dimension %lld is out of range for rank %zu: expected %lld to %lld",
               static_cast<long long>(dim), rank, static_cast<long long>(-count),
               static_cast<long long>(count - 1));
}

int64_t mask_or_negative(KernelContext& context, std::span<const int64_t> dims, size_t rank) {
  uint32_t mask = 0;
  for (const int64_t dim : dims) {
    const std::optional<size_t> index = normalize_dim(context, dim, rank);
    if (!index) return -1;
    if (((mask >> *index) & 1u) != 0) {
      context.fail(ErrorCode::kInvalidArgument, "dimension %zu is listed twice", *index);
      return -1;
    }
    mask |= 1u << *index;
  }
  return mask;
}

bool check_data(KernelContext& context, std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* tensor : tensors) {
    if (tensor != nullptr && tensor->raw_data() == nullptr && tensor->numel() > 0) {
      context.fail(ErrorCode::kInvalidArgument, "a tensor argument, %s, has no memory",
                   Text(*tensor).chars);
      return false;
    }
  }
  return true;
}

bool check_no_overlap(KernelContext& context, const Tensor& out,
                      std::initializer_list<const Tensor*> inputs) {
  const std::byte* const begin = out.unchecked_data<std::byte>();
  const std::less<> before;  // orders pointers into different allocations
  for (const Tensor* input : inputs) {
    if (input == nullptr) continue;
    const std::byte* const data = input->unchecked_data<std::byte>();
    if (before(data, begin + out.nbytes()) && before(begin, data + input->nbytes())) {
      context.fail(ErrorCode::kInvalidArgument, "the output overlaps the memory of an input");
      return false;
    }
  }
  return true;
}

bool check_dtype(KernelContext& context, const Tensor& tensor, ScalarType expected,
                 const char* name) {
  if (tensor.dtype() == expected) return true;
  context.fail(ErrorCode::kInvalidArgument, "%s is %s, expected dtype %s", name, Text(tensor).chars,
               scalar_type_name(expected));
  return false;
}

bool check_rank(KernelContext& context, const Tensor& tensor, size_t rank, const char* name) {
  if (tensor.rank() == rank) return true;
  context.fail(ErrorCode::kInvalidArgument, "%s is %s, expected rank %zu", name, Text(tensor).chars,
               rank);
  return false;
}

bool check_sizes(KernelContext& context, const Tensor& tensor, std::span<const int32_t> sizes,
                 const char* name) {
  bool same = tensor.rank() == sizes.size();
  for (size_t i = 0; same && i < sizes.size(); ++i) same = tensor.size(i) == sizes[i];
  if (same) return true;
  char expected[192] = "";
  size_t length = 0;
  for (size_t i = 0; i < sizes.size() && length < sizeof expected - 12; ++i) {
    length += static_cast<size_t>(std::snprintf(expected + length, sizeof expected - length, "%s%d",
                                                i == 0 ? "" : ",", sizes[i]));
  }
  context.fail(ErrorCode::kInvalidArgument, "%s is %s, expected shape [%s]", name,
               Text(tensor).chars, expected);
  return false;
}

bool is_row_major(const Tensor& tensor) {
  if (tensor.is_contiguous() || tensor.numel() <= 1) return true;
  int64_t previous = -1;
  for (const uint8_t dim : tensor.dim_order()) {
    if (tensor.size(dim) == 1) continue;
    if (dim < previous) return false;
    previous = dim;
  }
  return true;
}

bool check_contiguous(KernelContext& context, const Tensor& tensor, const char* name) {
  if (is_row_major(tensor)) return true;
  context.fail(ErrorCode::kInvalidArgument, "%s (%s) does not have the default dim order", name,
               Text(tensor).chars);
  return false;
}

bool check_same_dim_order(KernelContext& context, const Tensor& a, const Tensor& b) {
  if (a.same_dim_order(b) || (is_row_major(a) && is_row_major(b))) return true;
  context.fail(ErrorCode::kInvalidArgument, "%s and %s have different dim orders", Text(a).chars,
               Text(b).chars);
  return false;
}

std::optional<std::span<const int32_t>> read_sizes(KernelContext& context,
                                                   std::span<const int64_t> sizes,
                                                   std::span<int32_t> out) {
  if (sizes.size() > kMaxRank) {
    context.fail(ErrorCode::kInvalidArgument, "%zu sizes exceed the maximum rank, %zu",
                 sizes.size(), kMaxRank);
    return std::nullopt;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > INT32_MAX) {
      context.fail(ErrorCode::kInvalidArgument, "size %lld of dimension %zu is out of range",
                   static_cast<long long>(sizes[i]), i);
      return std::nullopt;
    }
    out[i] = static_cast<int32_t>(sizes[i]);
  }
  const std::span<const int32_t> result = out.first(sizes.size());
  if (Result<int64_t> numel = checked_numel(result); !numel.ok()) {
    context.fail(numel.take_error());
    return std::nullopt;
  }
  return result;
}

}  // namespace vitrine
