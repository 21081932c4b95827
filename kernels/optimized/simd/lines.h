// Computes reductions and normalizations along a contiguous line of floats.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Sums a line. Uses float within blocks of a few thousand elements, and double for the total.
// Returns 0 if `count` is 0.
double sum(const float* values, int64_t count);
// The sum of (value - center)^2.
double squared_distance(const float* values, float center, int64_t count);

// Return the largest or smallest element, or NaN if the line contains NaN. `count` must be
// positive.
float largest(const float* values, int64_t count);
float smallest(const float* values, int64_t count);
// Returns the first index of `value`, which may be NaN. Returns `count` if the value does not
// occur.
int64_t find_first(const float* values, float value, int64_t count);

// For each of `lines` contiguous lines, compute out = exp(in - max) / sum(exp(in - max)) or its
// logarithm. `out` may be `in`.
void softmax(const float* in, float* out, int64_t lines, int64_t count);
void log_softmax(const float* in, float* out, int64_t lines, int64_t count);
// Do the same as softmax() and log_softmax() for each of `count` columns. A column has `rows`
// elements, which are `stride` floats apart in both `in` and `out`. Sums are in float and are
// computed in blocks of 16 rows, so rounding errors grow with rows / 16.
void softmax_columns(const float* in, float* out, int64_t rows, int64_t stride, int64_t count);
void log_softmax_columns(const float* in, float* out, int64_t rows, int64_t stride, int64_t count);

// Computes out = (in - center) * scale * weight + bias. If `weight` is null, the weight is 1. If
// `bias` is null, the bias is 0.
void normalize(const float* in, float center, float scale, const float* weight, const float* bias,
               float* out, int64_t count);

// Do the same as sum(), largest() and smallest() for each of `count` columns. A column has `rows`
// elements, with a stride of `stride` floats. `count` is at most kColumns.
inline constexpr int64_t kColumns = 1024;
void column_sums(const float* in, int64_t rows, int64_t stride, int64_t count, double* sums);
void column_largest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out);
void column_smallest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out);

}  // namespace vitrine::optimized::simd
