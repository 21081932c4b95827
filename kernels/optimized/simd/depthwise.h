// Depthwise convolution: every channel has its own filter.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// One channel, out(y, x) = bias + sum over ky, kx of weights[ky * kernel_width + kx] *
// in(y * stride - padding + ky * dilation, x * step - side + kx * spread), zero outside.
//
// The plane is first copied with its padding, columns sorted by their number modulo `step`: then
// each tap reads neighbours, whatever step and dilation are. That is what `scratch` is for; the
// parts of it that stand for padding are zero, and stay so from plane to plane.
struct DepthwisePlane {
  const float* input;
  int64_t input_stride;  // from line to line
  int64_t height;
  int64_t width;
  float* scratch;  // see depthwise_line()
  const float* weights;
  int64_t kernel_height;
  int64_t kernel_width;
  int64_t stride;  // of lines
  int64_t padding;
  int64_t dilation;
  int64_t step;  // the same along a line
  int64_t side;
  int64_t spread;
  float bias;
  float* out;
  int64_t out_stride;
  int64_t out_height;
  int64_t out_width;
};
// Floats of a line of the scratch memory, which has one line more than the plane, and behind it
// room for a vector.
inline int64_t depthwise_line(int64_t width, int64_t step, int64_t side) {
  return (width + 2 * side + step - 1) / step * step;
}
constexpr int64_t kDepthwiseSlack = 64;
void depthwise_plane(const DepthwisePlane& plane);

// to[i] = from[2 * i] for i < count.
void take_every_other(const float* from, int64_t count, float* to);

// Places side by side of many channels, which lie side by side too: for p < count and c < channels,
// out[p * out_step + c] = bias[c] + sum over taps t of weights[t][c] * in[t][p * in_step + c].
struct DepthwisePixels {
  const float* const* in;  // of each tap inside the image
  const float* const* weights;
  int64_t taps;
  int64_t in_step;
  const float* bias;  // null: zero
  float* out;
  int64_t out_step;
  int64_t channels;
  int64_t count;
};
void depthwise_pixels(const DepthwisePixels& pixels);

}  // namespace vitrine::optimized::simd
