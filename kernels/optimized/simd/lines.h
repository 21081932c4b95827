// Loops of reductions and normalisations along a contiguous line of floats.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Sums are taken in float over a few thousand elements, these in double. Of nothing: 0.
double sum(const float* values, int64_t count);
// The sum of (value - center) squared.
double squared_distance(const float* values, float center, int64_t count);

// NaN if one is among them. `count` > 0.
float largest(const float* values, int64_t count);
float smallest(const float* values, int64_t count);
// The first position of `value` (or of NaN, if it is NaN); `count` if absent.
int64_t find_first(const float* values, float value, int64_t count);

// For each of `lines`, one after the other: out = exp(in - max) / sum(exp(in - max)), or the
// logarithm of that; `out` may be `in`.
void softmax(const float* in, float* out, int64_t lines, int64_t count);
void log_softmax(const float* in, float* out, int64_t lines, int64_t count);

// out = (in - center) * scale * weight + bias; null weights are 1, null biases 0.
void normalize(const float* in, float center, float scale, const float* weight, const float* bias,
               float* out, int64_t count);

// The same for each of `count` columns, over `rows` rows that are `stride` apart. At most kColumns
// columns at a time.
inline constexpr int64_t kColumns = 1024;
void column_sums(const float* in, int64_t rows, int64_t stride, int64_t count, double* sums);
void column_largest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out);
void column_smallest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out);

}  // namespace vitrine::optimized::simd
