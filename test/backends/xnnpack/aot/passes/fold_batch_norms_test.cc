#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(BatchNorm, FoldsIntoAGroupedConvolution) {
  TestProgram t;
  const Image image{4, 5, 6, ramp(120)};
  const std::vector<float> weight = ramp(6 * 2 * 9, 0.05f);
  const std::vector<float> factors = {1, 2, 3, -1, 0.5f, 0};
  Node* x = t.input("x", {1, 4, 5, 6});
  Node* call =
      convolution(t, x, t.parameter("w", {6, 2, 3, 3}, weight), nullptr, {1, 6, 5, 6}, 1, 2);
  Node* norm = batch_norm(t, call, factors);
  t.output({t.call("aten.relu.default", {norm}, {1, 6, 5, 6})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("StaticTranspose", "Conv2d", "StaticTranspose"));
  EXPECT_THAT(handles_of(*module, 1), ElementsAre(1, 2, 3));
  Image expected = convolve(image, weight, {}, 6, 2, 3, 1);
  for (size_t i = 0; i < expected.data.size(); ++i) {
    expected.data[i] = std::max(0.0f, normalized(expected.data[i], factors[i / 30]));
  }
  expect_near(run(*module, {image.data})[0], expected.data);
}

// The image is one pixel, so each output is a weighted sum of the inputs of its group.
TEST(BatchNorm, FoldsIntoATransposedConvolution) {
  TestProgram t;
  const std::vector<float> weight = ramp(4 * 3);
  const std::vector<float> factors = {1, 2, 3, 4, 5, 6};
  Node* x = t.input("x", {1, 4, 1, 1});
  Node* call =
      convolution(t, x, t.parameter("w", {4, 3, 1, 1}, weight), nullptr, {1, 6, 1, 1}, 0, 2, true);
  t.output({batch_norm(t, call, factors)});
  const std::vector<float> input = {1, -2, 3, 4};
  std::vector<float> expected(6);
  for (size_t o = 0; o < 6; ++o) {
    const size_t group = o / 3;
    float sum = 0;
    for (size_t i = 0; i < 2; ++i)
      sum += input[group * 2 + i] * weight[(group * 2 + i) * 3 + o % 3];
    expected[o] = normalized(sum, factors[o]);
  }
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module),
              ElementsAre("StaticTranspose", "ConvTranspose2d", "StaticTranspose"));
  expect_near(run(*module, {input})[0], expected);
}

TEST(BatchNorm, FoldsIntoALinearCall) {
  TestProgram t;
  Node* x = t.input("x", {2, 2});
  Node* call =
      t.call("aten.linear.default", {x, t.parameter("w", {3, 2}, {1, 0, 0, 1, 1, 1})}, {2, 3});
  t.output({batch_norm(t, call, {1, 2, -1})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("FullyConnected"));
  expect_near(run(*module, {{1, 2, 3, 4}})[0],
              {normalized(1, 1), normalized(2, 2), normalized(3, -1), normalized(3, 1),
               normalized(4, 2), normalized(7, -1)});
}

}  // namespace
}  // namespace vitrine::aot::test
