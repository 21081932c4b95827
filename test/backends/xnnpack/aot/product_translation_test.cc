#include <gtest/gtest.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

TEST(Convolutions, SupportOneSpatialDim) {
  TestProgram t;
  Node* x = t.input("x", {1, 2, 4});
  const std::vector<float> weight = {1, 0, -1, 2, 1, 0};
  Node* call = convolution(t, x, t.parameter("w", {1, 2, 3}, weight), t.parameter("b", {1}, {0.5f}),
                           {1, 1, 4}, 1);
  t.output({call});
  const std::vector<float> a = {0, 1, 2, 3, 4, 0}, b = {0, 5, 6, 7, 8, 0};  // padded channels
  std::vector<float> expected;
  for (size_t i = 0; i < 4; ++i) {
    expected.push_back(0.5f + a[i] - a[i + 2] + 2 * b[i] + b[i + 1]);
  }
  expect_near(run(*lowered(t), {{1, 2, 3, 4, 5, 6, 7, 8}})[0], expected);
}

TEST(Convolutions, ApplyOneElementListsToHeightAndWidth) {
  struct Window {
    int64_t stride, padding, dilation;
  };
  for (const Window& with : {Window{2, 0, 1}, Window{1, 1, 1}, Window{1, 0, 2}, Window{2, 1, 2}}) {
    TestProgram t;
    constexpr int64_t kHeight = 5;
    constexpr int64_t kWidth = 7;
    const auto length = [&](int64_t in) {
      return (in + 2 * with.padding - 2 * with.dilation - 1) / with.stride + 1;
    };
    const std::vector<int64_t> result = {1, 1, length(kHeight), length(kWidth)};
    Node* x = t.input("x", {1, 1, kHeight, kWidth});
    const std::vector<float> weight = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto one = [](int64_t number) { return std::vector<int64_t>{number}; };
    t.output({t.call("aten.convolution.default",
                     {x, t.parameter("w", {1, 1, 3, 3}, weight), t.parameter("b", {1}, {0.5f}),
                      one(with.stride), one(with.padding), one(with.dilation), false, one(0), 1},
                     result)});
    const std::vector<float> in = ramp(kHeight * kWidth);
    std::vector<float> expected;
    for (int64_t row = 0; row < result[2]; ++row) {
      for (int64_t column = 0; column < result[3]; ++column) {
        float sum = 0.5f;
        for (int64_t i = 0; i < 9; ++i) {
          const int64_t y = row * with.stride - with.padding + i / 3 * with.dilation;
          const int64_t at = column * with.stride - with.padding + i % 3 * with.dilation;
          if (y < 0 || y >= kHeight || at < 0 || at >= kWidth) continue;
          sum += in[static_cast<size_t>(y * kWidth + at)] * weight[static_cast<size_t>(i)];
        }
        expected.push_back(sum);
      }
    }
    expect_near(run(*lowered(t), {in})[0], expected);
  }
}

// ExecuTorch's quantizer does not quantize the weights of grouped transposed convolutions.
TEST(Convolutions, ComputeInF32IfOnlyTheWeightsAreFloat) {
  TestProgram t;
  Node* x = t.input("x", {1, 2, 1, 2});
  const std::vector<float> weight = {1, 2, -1, 0.5f};  // one channel per group, kernel 1 x 2
  Node* in = t.fake_quantize(x, 0.125, 0);
  Node* call =
      convolution(t, in, t.parameter("w", {2, 1, 1, 2}, weight), nullptr, {1, 2, 1, 3}, 0, 2, true);
  Node* relu = t.call("aten.relu.default", {call}, {1, 2, 1, 3});
  t.output({t.fake_quantize(relu, 0.0625, -128)});
  const auto result = run(*lowered(t), {{1, -0.5f, 2, -3}})[0];
  expect_near(result, {1, 1.5f, 0, 0, 4, 0});
}

}  // namespace
}  // namespace vitrine::aot::test
