// A line of windows at a time.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Windows side by side: the i-th sees from[i * stride + row * row_step + tap * tap_step].
struct Windows {
  const float* from;
  int64_t stride;
  int64_t rows;
  int64_t row_step;
  int64_t taps;
  int64_t tap_step;
};

// For i < count: the largest of a window, or its last NaN, and its place, where `from` is at
// `index`. A window with nothing above -infinity has its first place.
void largest_of_windows(const Windows& windows, int32_t index, int64_t count, float* largest,
                        int64_t* places);

// Sums of windows, row by row.
void sums_of_windows(const Windows& windows, int64_t count, float* sums);

}  // namespace vitrine::optimized::simd
