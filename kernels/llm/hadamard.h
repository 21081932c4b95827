// Hadamard transforms along the last dimension.
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::llm {

// A row is `blocks` vectors of `length` = 2^m elements. Each is multiplied by the matrix of
// Sylvester and divided by the root of its length. Where blocks is 28, the vectors are then the
// rows of a matrix that is multiplied, on its left, by a Hadamard matrix of 28 rows, not divided by
// anything.
struct HadamardShape {
  int64_t rows;
  int64_t blocks;  // 1 or 28
  int64_t length;
};

inline constexpr int64_t kHadamardBlocks = 28;
// Whether entry (row, column) of the matrix of 28 rows is 1; else it is -1.
bool is_hadamard_positive(int64_t row, int64_t column);

// Transforms one row in place; `scratch` holds kHadamardBlocks elements.
using TransformRow = void (*)(const HadamardShape& shape, float* row, float* scratch);
void transform_row(const HadamardShape& shape, float* row, float* scratch);

// llama::fast_hadamard_transform.out, over any way to transform a row. Half is computed in float.
void hadamard_transform(KernelContext& context, const Tensor& mat, Tensor& out,
                        TransformRow transform);

// What hadamard_transform checks first: nothing (and a failed context) for sizes that have no
// transform, and for dtypes but Float and Half. Resizes `out`.
[[nodiscard]] bool check_hadamard(KernelContext& context, const Tensor& mat, Tensor& out,
                                  HadamardShape& shape);

}  // namespace vitrine::llm
