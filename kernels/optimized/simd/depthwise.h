// Depthwise convolutions: every channel has its own filter.
#pragma once

#include <cstdint>

#include "vitrine/half.h"

namespace vitrine::optimized::simd {

// The convolution of one channel: out(y, x) = bias + sum over ky, kx of weights[ky * kernel_width +
// kx] * in(y * stride - padding + ky * dilation, x * step - side + kx * spread), where `in` is zero
// outside the plane.
//
// The plane is first copied to `scratch`. Each copied line has padding at both ends, and its
// columns are sorted by their index modulo `step`, so that each tap reads contiguous elements. The
// caller must zero `scratch` before the first plane. The padding stays zero for later planes.
constexpr int64_t kMaxDepthwiseTaps = 128;  // maximum of kernel_height * kernel_width
struct DepthwisePlane {
  const float* input;
  int64_t input_stride;  // elements from line to line
  int64_t height;
  int64_t width;
  float* scratch;  // see depthwise_line()
  const float* weights;
  int64_t kernel_height;
  int64_t kernel_width;
  int64_t stride;  // stride, padding and dilation of lines
  int64_t padding;
  int64_t dilation;
  int64_t step;  // stride, padding and dilation along a line
  int64_t side;
  int64_t spread;
  float bias;
  float* out;
  int64_t out_stride;
  int64_t out_height;
  int64_t out_width;
};
// Number of floats in a line of the scratch memory. The scratch memory has one line more than the
// plane, followed by kDepthwiseSlack floats.
inline int64_t depthwise_line(int64_t width, int64_t step, int64_t side) {
  return (width + 2 * side + step - 1) / step * step;
}
constexpr int64_t kDepthwiseSlack = 64;
void depthwise_plane(const DepthwisePlane& plane);

// Sets to[i] = from[2 * i] for i < count.
void take_every_other(const float* from, int64_t count, float* to);

// Computes consecutive pixels of a convolution with contiguous channels. For p < count and
// c < channels,
//   out[p * out_step + c] = bias[c] + sum over taps t of weights[t][c] * in[t][p * in_step + c].
// The sums are in float: Half inputs are converted to float, and sums are converted to Half
// outputs.
template <class T>
struct DepthwisePixels {
  const T* const* in;  // input of each tap inside the image
  const float* const* weights;
  int64_t taps;
  int64_t in_step;
  const float* bias;  // null means zero
  T* out;
  int64_t out_step;
  int64_t channels;
  int64_t count;
};
void depthwise_pixels(const DepthwisePixels<float>& pixels);
void depthwise_pixels(const DepthwisePixels<Half>& pixels);

}  // namespace vitrine::optimized::simd
