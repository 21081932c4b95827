// Matrix products of Float, Half and BFloat16 in float on all threads. The portable functions
// compute other dtypes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/util/matrix_product.h"
#include "vitrine/scalar_type.h"

namespace vitrine::optimized {

void multiply_matrices(KernelContext& context, const MatrixProduct& product);

// A matrix of Float, Half or BFloat16. Element (row, column) is at index row * row_stride + column
// * column_stride.
struct Matrix {
  const void* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;
  ScalarType dtype = ScalarType::kFloat;
  bool has_slack = false;  // Tensor::has_slack() of the tensor

  Matrix transposed() const {
    return {data, columns, rows, column_stride, row_stride, dtype, has_slack};
  }
  const void* at(int64_t row, int64_t column) const {
    return static_cast<const std::byte*>(data) +
           (row * row_stride + column * column_stride) * static_cast<int64_t>(element_size(dtype));
  }
  // Precondition: dtype is Float.
  const float* floats(int64_t row, int64_t column) const {
    return static_cast<const float*>(data) + row * row_stride + column * column_stride;
  }
};

// result[r * columns + c] = (left x right)(r, c). Both operands must be Float. Fails the context if
// temporary memory runs out.
void multiply(KernelContext& context, const Matrix& left, const Matrix& right, float* result);

}  // namespace vitrine::optimized
