// Calls that several tests lower, and reference implementations that compute their results.
#pragma once

#include <cstdint>
#include <vector>

#include "aot/lowering/lowered_modules.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {

using Ints = std::vector<int64_t>;

// Returns the debug handles that the delegate map contains for `identifier`, or an empty vector.
std::vector<uint32_t> handles_of(const LoweredBackendModule& module, uint32_t identifier);

void expect_near(const std::vector<float>& found, const std::vector<float>& expected,
                 float tolerance = 1e-5f);

struct Image {
  size_t channels, height, width;
  std::vector<float> data;
  float at(size_t c, int64_t y, int64_t x) const {
    if (y < 0 || x < 0 || y >= static_cast<int64_t>(height) || x >= static_cast<int64_t>(width)) {
      return 0.0f;
    }
    return data[(c * height + static_cast<size_t>(y)) * width + static_cast<size_t>(x)];
  }
};
// Convolves with a stride of 1. The weights have the shape [out, in / groups, kernel, kernel].
Image convolve(const Image& in, const std::vector<float>& weight, const std::vector<float>& bias,
               size_t outputs, size_t groups, int64_t kernel, int64_t padding);

Node* convolution(TestProgram& t, Node* input, Node* weight, Node* bias, Ints sizes,
                  int64_t padding = 0, int64_t groups = 1, bool transposed = false);
// Adds a batch norm with means of 0.25, variances of 3, biases of 0.5 and an epsilon of 1. Returns
// its first result.
Node* batch_norm(TestProgram& t, Node* input, const std::vector<float>& weight);
// Returns the result of batch_norm() for the element `x`.
float normalized(float x, float weight);

// A convolution of one 3 x 4 x 5 image with a 1 x 1 kernel and two output channels.
struct Convolved {
  TestProgram t;
  Image image{3, 4, 5, ramp(60)};
  std::vector<float> weight = ramp(6);
  Image expected = convolve(image, weight, {}, 2, 1, 1, 0);
  Node* x = t.input("x", {1, 3, 4, 5});
  Node* call = convolution(t, x, t.parameter("w", {2, 3, 1, 1}, weight), nullptr, {1, 2, 4, 5});
};

}  // namespace vitrine::aot::test
