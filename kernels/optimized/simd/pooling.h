// A line of windows at a time.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// For i < count: where from[i * stride] is greater than best[i], or NaN, it takes its place, and
// index + i * stride that of places[i].
void take_larger(const float* from, int64_t stride, int32_t index, int64_t count, float* best,
                 int32_t* places);

// sums[i] += from[i * stride] for i < count.
void add_line(const float* from, int64_t stride, int64_t count, float* sums);

}  // namespace vitrine::optimized::simd
