// Pools consecutive windows along a line.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Lines of consecutive windows. Window i of line l has the elements from[l * line_step + i * stride
// + row * row_step + tap * tap_step].
struct Windows {
  const float* from;
  int64_t stride;
  int64_t rows;
  int64_t row_step;
  int64_t taps;
  int64_t tap_step;
  int64_t lines = 1;
  int64_t line_step = 0;
};

// Indices in a plane. In window i of line l, element (row, tap) has the index first + l * line_step
// + i * stride + row * row_step + tap * tap_step. `stride` and `tap_step` are members of Windows.
struct WindowIndices {
  int32_t first;
  int64_t row_step;
  int64_t line_step = 0;
};

// Finds the largest element, and its index in the plane, for each of `count` windows of each line.
// If the window contains NaN, finds the last NaN instead. If all elements are -infinity, the index
// is that of the window's first element. The results of all lines are contiguous.
void largest_of_windows(const Windows& windows, const WindowIndices& at, int64_t count,
                        float* largest, int64_t* indices);

// The sum of each window, divided by the divisor with the same index unless `divisors` is null.
void sums_of_windows(const Windows& windows, int64_t count, const float* divisors, float* sums);

}  // namespace vitrine::optimized::simd
