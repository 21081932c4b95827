// Scales, pools and interpolates pixels of channels-last images: the channels of a pixel are
// contiguous.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitrine::optimized::simd {

// Sets out[p * out_step + c] = in[p * in_step + c] * scales[c] + biases[c], limited to the bounds,
// for p < count and c < channels.
struct ScaledPixels {
  const float* in;
  int64_t in_step;
  const float* scales;
  const float* biases;
  float* out;
  int64_t out_step;
  int64_t channels;
  int64_t count;
  float min;
  float max;
};
void scale_pixels(const ScaledPixels& pixels);

// All functions in this file need vectors wider than 16 bytes. The functions below also need pixels
// with at least one full vector of channels.

// Windows of pixels, one for each of `count` output pixels. Window i has the pixels at in[i * step
// + t] for t < taps. `offset` bytes are added to all pointers except `padding`.
template <class T>
struct PixelWindows {
  static constexpr int64_t kMaxTaps = 25;

  const T* const* in;
  int64_t step;
  int64_t taps;  // at most kMaxTaps
  size_t offset;
  const T* padding;  // null, or `channels` zeros
  T* out;
  int64_t out_step;
  int64_t channels;
  int64_t count;
  T min;  // bounds of the results
  T max;
};
void largest_pixels(const PixelWindows<float>& windows);
void largest_pixels(const PixelWindows<int8_t>& windows);
// Computes scales[i * scale_step] times the sum of window i, for each channel.
void scaled_sums_of_pixels(const PixelWindows<float>& windows, const float* scales,
                           int64_t scale_step);

// Interpolates each result between four pixels: top left, top right, bottom left and bottom right.
// `offset` bytes are added to each pointer.
struct BetweenPixels {
  const float* const* corners;  // 4 for each pixel
  size_t offset;
  const float* weights;  // two per pixel: weight of the right pixels, weight of the bottom pixels
  float* out;
  int64_t out_step;
  int64_t channels;
  int64_t count;
};
void interpolate_pixels(const BetweenPixels& pixels);

}  // namespace vitrine::optimized::simd
