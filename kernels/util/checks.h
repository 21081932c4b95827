// Checks that most kernels need. Each fails the context with a text that names the error and
// returns false (or nothing); the kernel must then return.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "kernels/util/dtype_dispatch.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// The dimension, 0 .. rank-1, that `dim` names; -rank .. rank-1 are accepted. A 0-d tensor counts
// as one dimension: it takes 0 and -1 and gives 0 (which its sizes() does not have: see size_at).
[[nodiscard]] std::optional<size_t> normalize_dim(KernelContext& context, int64_t dim, size_t rank);

// A set of dimensions, one bit each. `dims` empty: none are set. Fails on a repeated dimension.
[[nodiscard]] std::optional<uint32_t> dim_mask(KernelContext& context,
                                               std::span<const int64_t> dims, size_t rank);

// Size of a dimension normalised by normalize_dim; 1 for a 0-d tensor.
inline int64_t size_at(const Tensor& tensor, size_t dim) {
  return tensor.rank() == 0 ? 1 : tensor.size(dim);
}
// Product of the sizes in [begin, end). Of a tensor without elements it may wrap around.
inline int64_t size_product(const Tensor& tensor, size_t begin, size_t end) {
  uint64_t product = 1;
  for (size_t i = begin; i < end && i < tensor.rank(); ++i) {
    product *= static_cast<uint64_t>(tensor.size(i));
  }
  return static_cast<int64_t>(product);
}

// None of the tensors has elements but no memory. Null pointers in the list are skipped.
[[nodiscard]] bool check_data(KernelContext& context, std::initializer_list<const Tensor*> tensors);

// No byte of `out` is one of an input's: for kernels that read an input twice, and must find the
// same there. Call it when `out` has its shape. Null pointers are skipped.
[[nodiscard]] bool check_no_overlap(KernelContext& context, const Tensor& out,
                                    std::initializer_list<const Tensor*> inputs);

// `name` is the argument's name in the operator's schema.
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
// Dim order 0, 1, 2, ... (dimensions of size one or zero elements do not matter).
[[nodiscard]] bool check_contiguous(KernelContext& context, const Tensor& tensor, const char* name);
// Whether elements have the same order in memory.
[[nodiscard]] bool check_same_dim_order(KernelContext& context, const Tensor& a, const Tensor& b);

// Whether the elements of `tensor` are in logical row-major order, whatever its dim order.
bool is_row_major(const Tensor& tensor);

// Sizes given as int[] of a schema; fails if one is negative or above INT32_MAX, if there are more
// than kMaxRank, or if their product overflows. `out` has kMaxRank places.
[[nodiscard]] std::optional<std::span<const int32_t>> read_sizes(KernelContext& context,
                                                                 std::span<const int64_t> sizes,
                                                                 std::span<int32_t> out);

}  // namespace vitrine
