// The matrix product that mm, bmm, addmm, linear and convolution share.
//
// gemm() reads its operands as panels: small blocks, converted to the type of the sums and packed
// in reading order. Anything that fills a panel can be an operand, such as a matrix of any dtype
// and strides, or the patches of an image. The inner loop is instantiated for float, double and
// uint64_t. uint64_t serves all integer dtypes, whose sums wrap around.
#pragma once

#include <cstdint>

#include "kernels/util/dtype_dispatch.h"
#include "vitrine/scalar_type.h"

namespace vitrine {

// A tile of sums stays in registers. A block of each operand is packed at a time.
inline constexpr int64_t kGemmTileRows = 4;
inline constexpr int64_t kGemmTileColumns = 8;
inline constexpr int64_t kGemmBlockDepth = 128;
inline constexpr int64_t kGemmBlockRows = 32;
template <class Sum>
inline constexpr int64_t kGemmBlockColumns = 128 / sizeof(Sum);

template <class Sum>
class GemmOperands {
 public:
  // Sets panel[d * kGemmTileRows + r] = left(row + r, depth + d) for r < count and d < depth_count.
  // The caller has set the other elements of the panel to zero.
  virtual void load_rows(int64_t row, int64_t count, int64_t depth, int64_t depth_count,
                         Sum* panel) = 0;
  // Sets panel[d * kGemmTileColumns + c] = right(depth + d, column + c) for c < count and d <
  // depth_count. The caller has set the other elements of the panel to zero.
  virtual void load_columns(int64_t column, int64_t count, int64_t depth, int64_t depth_count,
                            Sum* panel) = 0;
  // Sets result(row, column + i) = sums[i] for i < count <= kGemmBlockColumns. May modify `sums`.
  virtual void store(int64_t row, int64_t column, int64_t count, Sum* sums) = 0;

 protected:
  ~GemmOperands() = default;
};

// Stores every element of the result once. If the depth is 0, all sums are zero.
template <class Sum>
void gemm(int64_t rows, int64_t columns, int64_t depth, GemmOperands<Sum>& operands);

extern template void gemm(int64_t, int64_t, int64_t, GemmOperands<float>&);
extern template void gemm(int64_t, int64_t, int64_t, GemmOperands<double>&);
extern template void gemm(int64_t, int64_t, int64_t, GemmOperands<uint64_t>&);

template <class Sum>
inline constexpr ScalarType sum_dtype = ScalarType::kLong;
template <>
inline constexpr ScalarType sum_dtype<float> = ScalarType::kFloat;
template <>
inline constexpr ScalarType sum_dtype<double> = ScalarType::kDouble;

// `Sum` is the type in which products of `dtype` are summed.
template <class Function>
void dispatch_sum(KernelContext& context, ScalarType dtype, Function&& function) {
  bool found = false;
  if (dtype == ScalarType::kDouble) {
    found = call_if_selected<double>(function);
  } else if (is_floating(dtype)) {
    found = call_if_selected<float>(function);
  } else if constexpr (is_selected(ScalarType::kLong)) {
    function.template operator()<uint64_t>();
    found = true;
  }
  if (!found) fail_unsupported_dtype(context, dtype);
}

}  // namespace vitrine
