// Calls that several tests lower, and what they give by their definitions.
#pragma once

#include <cstdint>
#include <vector>

#include "aot/lowering/lowered_modules.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {

using Ints = std::vector<int64_t>;

// What a delegate's map says of an identifier. Empty if it does not have it.
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
// By the definition. Weights [out, in / groups, kernel, kernel], stride 1.
Image convolve(const Image& in, const std::vector<float>& weight, const std::vector<float>& bias,
               size_t outputs, size_t groups, int64_t kernel, int64_t padding);

Node* convolution(TestProgram& t, Node* input, Node* weight, Node* bias, Ints sizes,
                  int64_t padding = 0, int64_t groups = 1, bool transposed = false);
// The first result of a call with means of 0.25, variances of 3, biases of 0.5 and an epsilon of 1.
Node* batch_norm(TestProgram& t, Node* input, const std::vector<float>& weight);
float normalised(float x, float weight);

// A convolution over one image, 3 x 4 x 5, with a 1x1 kernel and two outputs.
struct Convolved {
  TestProgram t;
  Image image{3, 4, 5, ramp(60)};
  std::vector<float> weight = ramp(6);
  Image expected = convolve(image, weight, {}, 2, 1, 1, 0);
  Node* x = t.input("x", {1, 3, 4, 5});
  Node* call = convolution(t, x, t.parameter("w", {2, 3, 1, 1}, weight), nullptr, {1, 2, 4, 5});
};

}  // namespace vitrine::aot::test
