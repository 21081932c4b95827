// A convolution of floats in plain numbers, and the ways to compute it, one a file.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/util/convolution.h"

namespace vitrine::optimized {

using Place = std::array<int64_t, 3>;  // depth, height, width

// Strides count elements.
struct ConvolutionShape {
  const float* input;
  const float* weight;
  const float* bias;  // or null
  float* out;
  Place in;      // sizes
  Place kernel;  // sizes
  Place output;  // sizes
  ConvolutionWindow window;
  Layout input_layout;  // [N, C, depth, height, width]
  Layout weight_layout;
  Layout out_layout;
  int64_t group_rows;      // output channels of a group
  int64_t group_channels;  // input channels of a group

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t depth() const { return group_channels * taps(); }
  int64_t places() const { return output[0] * output[1] * output[2]; }
};

// Whether depth, height and width are one dimension of stride `strides[4]`.
inline bool is_plane(const Layout& layout) {
  return (layout.sizes[3] == 1 || layout.strides[3] == layout.sizes[4] * layout.strides[4]) &&
         (layout.sizes[2] == 1 ||
          layout.strides[2] == layout.sizes[4] * layout.sizes[3] * layout.strides[4]);
}

// As a matrix product of weights and patches, for each image and group. Not transposed.
void convolve_as_product(KernelContext& context, const ConvolutionShape& shape);

// One input channel a group. False, with nothing done, if it has more or lies in an unusual way.
[[nodiscard]] bool convolve_depthwise(KernelContext& context, const ConvolutionShape& shape);

// Transposed. False, with nothing done, if weights or input lie in an unusual way.
[[nodiscard]] bool convolve_transposed(KernelContext& context, const ConvolutionShape& shape);

}  // namespace vitrine::optimized
