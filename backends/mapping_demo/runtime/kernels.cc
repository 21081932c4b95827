#include "backends/mapping_demo/runtime/kernels.h"

#include <algorithm>
#include <cmath>

namespace vitrine::mapping_demo {
namespace {

struct Plane {
  const float* data;
  int32_t height, width;
};

// One window of one input channel, at (y, x) of the padded plane.
float window_sum(const Convolution& conv, const Plane& plane, const float* filter, int64_t y,
                 int64_t x) {
  float sum = 0;
  for (int32_t i = 0; i < conv.weight_sizes[2]; ++i) {
    const int64_t row = y + int64_t{i} * conv.dilation[0];
    if (row < 0 || row >= plane.height) continue;
    for (int32_t k = 0; k < conv.weight_sizes[3]; ++k) {
      const int64_t column = x + int64_t{k} * conv.dilation[1];
      if (column < 0 || column >= plane.width) continue;
      sum += plane.data[row * plane.width + column] * filter[i * conv.weight_sizes[3] + k];
    }
  }
  return sum;
}

}  // namespace

void conv_relu(const Convolution& conv, const Sizes& input_sizes, const float* input,
               const Sizes& result_sizes, float* result) {
  const size_t plane_size =
      static_cast<size_t>(input_sizes[2]) * static_cast<size_t>(input_sizes[3]);
  const auto channels = static_cast<size_t>(conv.weight_sizes[1]);
  const size_t filter_size =
      static_cast<size_t>(conv.weight_sizes[2]) * static_cast<size_t>(conv.weight_sizes[3]);
  const int32_t outputs = conv.weight_sizes[0];
  const int32_t outputs_a_group = outputs / conv.groups;
  for (int32_t n = 0; n < result_sizes[0]; ++n) {
    for (int32_t out = 0; out < outputs; ++out) {
      const size_t first = static_cast<size_t>(n) * static_cast<size_t>(input_sizes[1]) +
                           static_cast<size_t>(out / outputs_a_group) * channels;
      const float* filters = conv.weight.data() + static_cast<size_t>(out) * channels * filter_size;
      const float bias = conv.bias.empty() ? 0.0F : conv.bias[static_cast<size_t>(out)];
      for (int32_t y = 0; y < result_sizes[2]; ++y) {
        for (int32_t x = 0; x < result_sizes[3]; ++x) {
          float sum = bias;
          for (size_t channel = 0; channel < channels; ++channel) {
            const Plane plane = {input + (first + channel) * plane_size, input_sizes[2],
                                 input_sizes[3]};
            sum += window_sum(conv, plane, filters + channel * filter_size,
                              int64_t{y} * conv.stride[0] - conv.padding[0],
                              int64_t{x} * conv.stride[1] - conv.padding[1]);
          }
          // As PyTorch, NaN stays NaN.
          *result++ = sum < 0 ? 0 : sum;
        }
      }
    }
  }
}

void sin(std::span<const float> input, float* result) {
  std::ranges::transform(input, result, [](float value) { return std::sin(value); });
}

void cos(std::span<const float> input, float* result) {
  std::ranges::transform(input, result, [](float value) { return std::cos(value); });
}

void div(std::span<const float> dividend, const float* divisor, float* result) {
  for (size_t i = 0; i < dividend.size(); ++i) result[i] = dividend[i] / divisor[i];
}

}  // namespace vitrine::mapping_demo
