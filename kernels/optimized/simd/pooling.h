// Pools consecutive windows along a line.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Consecutive windows. Window i consists of from[i * stride + row * row_step + tap * tap_step].
struct Windows {
  const float* from;
  int64_t stride;
  int64_t rows;
  int64_t row_step;
  int64_t taps;
  int64_t tap_step;
};

// For each of `count` windows, finds the largest element and its index in the plane. If the window
// contains NaN, finds the last NaN instead. `index` is the index in the plane of the element at
// windows.from. If all elements are -infinity, the index is that of the window's first element.
void largest_of_windows(const Windows& windows, int32_t index, int64_t count, float* largest,
                        int64_t* indices);

// For each i < count, finds the largest of values[i + t * step] for t < taps, or the last NaN. Its
// index is indices[i + t * step], or i + t * step if `indices` is null. If all elements are
// -infinity, the index is that of values[i]. Reads and writes up to kPoolingSlack elements past the
// last one. The results must not overlap the inputs.
struct Neighbors {
  const float* values;
  const int32_t* indices;
  int64_t step;
  int64_t taps;
};
inline constexpr int64_t kPoolingSlack = 64;
void largest_of_neighbors(const Neighbors& neighbors, int64_t count, float* largest,
                          int32_t* largest_indices);

// Computes the sums of windows.
void sums_of_windows(const Windows& windows, int64_t count, float* sums);

}  // namespace vitrine::optimized::simd
