// Depthwise convolution: every channel with a filter of its own.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Floats that may be read behind a line of the input.
inline constexpr int64_t kDepthwiseSlack = 64;

// One channel: out(y, x) = bias + sum over ky, kx of weights[ky * kernel_width + kx] *
// line(y * stride - padding + ky * dilation)[offsets[kx] + x]. Lines are line_length apart; those
// above and below the input are `zeros`.
struct DepthwisePlane {
  const float* input;
  int64_t line_length;
  int64_t lines;
  const float* zeros;
  const float* weights;
  const int64_t* offsets;
  int64_t kernel_height;
  int64_t kernel_width;
  int64_t stride;
  int64_t padding;
  int64_t dilation;
  float bias;
  float* out;
  int64_t out_stride;
  int64_t out_height;
  int64_t out_width;
};
void depthwise_plane(const DepthwisePlane& plane);

// to[i] = from[2 * i] for i < count.
void take_every_other(const float* from, int64_t count, float* to);
// even[i] = from[2 * i], odd[i] = from[2 * i + 1], of `count` floats in all.
void split_in_two(const float* from, int64_t count, float* even, float* odd);

// One place of many channels that lie side by side: out[c] = bias[c] + sum over taps of
// weights[t * channels + c] * places[t][c]; null places are padding, a null bias is zero.
void depthwise_place(const float* const* places, const float* weights, int64_t taps,
                     const float* bias, float* out, int64_t channels);

}  // namespace vitrine::optimized::simd
