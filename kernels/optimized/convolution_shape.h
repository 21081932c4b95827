#pragma once

#include <array>
#include <cstdint>

#include "kernels/util/convolution.h"

namespace vitrine::optimized {

using Spatial = std::array<int64_t, 3>;  // depth, height, width

// Strides are in elements.
struct ConvolutionShape {
  const float* input;
  const float* weight;
  const float* bias;  // may be null
  float* out;
  Spatial in;
  Spatial kernel;
  Spatial output;
  ConvolutionWindow window;
  Layout input_layout;  // [N, C, depth, height, width]
  Layout weight_layout;
  Layout out_layout;
  int64_t group_rows;      // output channels of a group
  int64_t group_channels;  // input channels of a group

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t depth() const { return group_channels * taps(); }
  int64_t positions() const { return output[0] * output[1] * output[2]; }
};

// True if depth, height and width can be merged into one dimension of stride `strides[4]`.
inline bool is_plane(const Layout& layout) {
  return (layout.sizes[3] == 1 || layout.strides[3] == layout.sizes[4] * layout.strides[4]) &&
         (layout.sizes[2] == 1 ||
          layout.strides[2] == layout.sizes[4] * layout.sizes[3] * layout.strides[4]);
}

// Computes a non-transposed convolution: one matrix product of weights and patches for each image
// and group.
void convolve_as_product(KernelContext& context, const ConvolutionShape& shape);

// Computes a non-transposed convolution with packed weights. Converts images that are not
// channels-last. Returns false without doing anything if `weight` is not a constant, if the memory
// budget is too small for the packed weights, if the layouts are not supported, or if
// convolve_as_product() is faster.
[[nodiscard]] bool convolve_by_taps(KernelContext& context, const Tensor& weight,
                                    const ConvolutionShape& shape);

// Computes a non-transposed convolution as dot products. Returns false without doing anything
// unless input, output and kernel have one pixel each, without padding, and the layouts are
// supported.
[[nodiscard]] bool convolve_single_pixels(KernelContext& context, const ConvolutionShape& shape);

// Returns false without doing anything if a group has more than one input channel, or if the shape
// or the layouts are not supported.
[[nodiscard]] bool convolve_depthwise(KernelContext& context, const Tensor& weight,
                                      const ConvolutionShape& shape);

// Returns false without doing anything if the layout of the weights or the input is not supported.
[[nodiscard]] bool convolve_transposed(KernelContext& context, const ConvolutionShape& shape);

}  // namespace vitrine::optimized
