// Matrix products in float on all threads; other dtypes go to the portable ones.
#pragma once

#include "kernels/util/matrix_product.h"

namespace vitrine::optimized {

// A MultiplyMatrices.
void multiply_matrices(KernelContext& context, const MatrixProduct& product);

// A matrix of floats: element (row, column) at data[row * row_stride + column * column_stride].
struct FloatMatrix {
  const float* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;

  FloatMatrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// result[r * columns + c] = (left x right)(r, c). Fails the context without temporary memory.
void multiply(KernelContext& context, const FloatMatrix& left, const FloatMatrix& right,
              float* result);

}  // namespace vitrine::optimized
