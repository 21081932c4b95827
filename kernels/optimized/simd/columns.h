// Reductions of the columns of a matrix of floats.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Like sum(), largest() and smallest() in lines.h, but for each of `count` columns, at most
// kColumns. A column has `rows` elements at a stride of `stride` floats.
inline constexpr int64_t kColumns = 1024;
void column_sums(const float* in, int64_t rows, int64_t stride, int64_t count, double* sums);
void column_largest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out);
void column_smallest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out);

}  // namespace vitrine::optimized::simd
