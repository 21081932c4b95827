// Matrix products in float on all threads, also of Half and BFloat16; other dtypes go to the
// portable ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/util/matrix_product.h"
#include "vitrine/scalar_type.h"

namespace vitrine::optimized {

// A MultiplyMatrices.
void multiply_matrices(KernelContext& context, const MatrixProduct& product);

// A matrix of Float, Half or BFloat16: (row, column) is the element at row * row_stride + column *
// column_stride.
struct Matrix {
  const void* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;
  ScalarType dtype = ScalarType::kFloat;

  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride, dtype}; }
  const void* at(int64_t row, int64_t column) const {
    return static_cast<const std::byte*>(data) +
           (row * row_stride + column * column_stride) * static_cast<int64_t>(element_size(dtype));
  }
  // Of a matrix of Float.
  const float* floats(int64_t row, int64_t column) const {
    return static_cast<const float*>(data) + row * row_stride + column * column_stride;
  }
};

// result[r * columns + c] = (left x right)(r, c), of matrices of Float. Fails the context without
// temporary memory.
void multiply(KernelContext& context, const Matrix& left, const Matrix& right, float* result);

}  // namespace vitrine::optimized
