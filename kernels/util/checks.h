// Checks for kernels. A failed check reports an error to the context and returns false or nullopt.
// The kernel must then return.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "kernels/util/dtype_dispatch.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

void fail_dim(KernelContext& context, int64_t dim, size_t rank);

// Maps `dim` from [-rank, rank) to [0, rank). Fails if `dim` is out of range. For rank 0, accepts
// -1 and 0 and returns 0. Read the size with size_at(), because a 0-d tensor has no sizes.
[[nodiscard]] inline std::optional<size_t> normalize_dim(KernelContext& context, int64_t dim,
                                                         size_t rank) {
  const int64_t count = rank == 0 ? 1 : static_cast<int64_t>(rank);
  if (dim >= -count && dim < count) return static_cast<size_t>(dim < 0 ? dim + count : dim);
  fail_dim(context, dim, rank);
  return std::nullopt;
}

// Like dim_mask(), but returns -1 on errors. An optional number would be slower here, because this
// function is not inlined.
int64_t mask_or_negative(KernelContext& context, std::span<const int64_t> dims, size_t rank);

// Returns a bit mask of the dimensions in `dims`. Fails on a repeated dimension.
[[nodiscard]] inline std::optional<uint32_t> dim_mask(KernelContext& context,
                                                      std::span<const int64_t> dims, size_t rank) {
  const int64_t mask = mask_or_negative(context, dims, rank);
  if (mask < 0) return std::nullopt;
  return static_cast<uint32_t>(mask);
}

// Size of a dimension from normalize_dim(). 1 for a 0-d tensor.
inline int64_t size_at(const Tensor& tensor, size_t dim) {
  return tensor.rank() == 0 ? 1 : tensor.size(dim);
}
// Product of the sizes in [begin, end). May wrap around if a size outside this range is 0.
inline int64_t size_product(const Tensor& tensor, size_t begin, size_t end) {
  uint64_t product = 1;
  for (size_t i = begin; i < end && i < tensor.rank(); ++i) {
    product *= static_cast<uint64_t>(tensor.size(i));
  }
  return static_cast<int64_t>(product);
}

// Fails if a tensor has elements but no memory. Skips null pointers.
[[nodiscard]] bool check_data(KernelContext& context, std::initializer_list<const Tensor*> tensors);

// Fails if `out` shares a byte with an input. Kernels that read an input after they begin to write
// `out` need this check. Call this after resizing `out`. Skips null pointers.
[[nodiscard]] bool check_no_overlap(KernelContext& context, const Tensor& out,
                                    std::initializer_list<const Tensor*> inputs);

// In the checks below, `name` is the argument's name in the operator's schema.
[[nodiscard]] bool check_dtype(KernelContext& context, const Tensor& tensor, ScalarType expected,
                               const char* name);
template <class List>
[[nodiscard]] bool check_dtype_in(KernelContext& context, const Tensor& tensor) {
  if (is_one_of<List>(tensor.dtype())) return true;
  fail_unsupported_dtype(context, tensor.dtype());
  return false;
}
[[nodiscard]] bool check_rank(KernelContext& context, const Tensor& tensor, size_t rank,
                              const char* name);
[[nodiscard]] bool check_sizes(KernelContext& context, const Tensor& tensor,
                               std::span<const int32_t> sizes, const char* name);
// Fails unless is_row_major(tensor) is true.
[[nodiscard]] bool check_contiguous(KernelContext& context, const Tensor& tensor, const char* name);
// Fails unless the elements of both tensors have the same order in memory.
[[nodiscard]] bool check_same_dim_order(KernelContext& context, const Tensor& a, const Tensor& b);

// True if the elements are in row-major order, or for at most one element. Dimensions of size one
// may have any place in the dim order.
bool is_row_major(const Tensor& tensor);

// Converts sizes from a schema's int[]. Fails if a size is negative or above INT32_MAX, if there
// are more than kMaxRank sizes, or if the product of the sizes overflows. `out` has kMaxRank
// elements.
[[nodiscard]] std::optional<std::span<const int32_t>> read_sizes(KernelContext& context,
                                                                 std::span<const int64_t> sizes,
                                                                 std::span<int32_t> out);

}  // namespace vitrine
