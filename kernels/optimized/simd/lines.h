// Reductions and normalizations of a contiguous line of floats.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Sums a line, in float within blocks of a few thousand elements, and in double for the total.
double sum(const float* values, int64_t count);
// Sets out[i] to the sum of line i divided by `divisor`. The lines are contiguous.
void sums(const float* values, int64_t lines, int64_t count, double divisor, float* out);
// The sum of (value - center)^2.
double squared_distance(const float* values, float center, int64_t count);

// Computes the mean and 1 / sqrt(variance + epsilon) of each of `lines` contiguous lines. A line
// continues in `parts` - 1 further parts of `count` values, at a stride of `stride` floats.
void statistics(const float* values, int64_t lines, int64_t count, int64_t parts, int64_t stride,
                double epsilon, float* mean, float* rstd);
// Number of lines for one call of statistics(). The processor overlaps the steps of short lines.
// Long lines should be in the cache when the caller reads them again.
constexpr int64_t kMaxLinesAtOnce = 16;
constexpr int64_t lines_at_once(int64_t count) { return count <= 64 ? kMaxLinesAtOnce : 1; }

// The result is NaN if the line contains NaN. `count` must be positive.
float largest(const float* values, int64_t count);
float smallest(const float* values, int64_t count);
// The first index of `value`, which may be NaN. Returns `count` if the line does not contain the
// value.
int64_t find_first(const float* values, float value, int64_t count);

// For each of `lines` contiguous lines: out = exp(in - max) / sum(exp(in - max)), or its logarithm.
// `out` may be `in`.
void softmax(const float* in, float* out, int64_t lines, int64_t count);
void log_softmax(const float* in, float* out, int64_t lines, int64_t count);
// Like softmax() and log_softmax(), but for each of `count` columns. A column has `rows` elements
// at a stride of `stride` floats in both `in` and `out`. Sums are in float, in blocks of 16 rows,
// so rounding errors grow with rows / 16.
void softmax_columns(const float* in, float* out, int64_t rows, int64_t stride, int64_t count);
void log_softmax_columns(const float* in, float* out, int64_t rows, int64_t stride, int64_t count);

// For each of `lines` contiguous lines: out = (in - mean) * rstd * weight + bias. A null `weight`
// means 1. A null `bias` means 0. Writes the statistics of each line to `mean` and `rstd`.
void normalize(const float* in, int64_t lines, int64_t count, double epsilon, const float* weight,
               const float* bias, float* out, float* mean, float* rstd);

}  // namespace vitrine::optimized::simd
