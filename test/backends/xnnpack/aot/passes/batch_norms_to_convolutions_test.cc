#include <gmock/gmock.h>

#include <cmath>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(BatchNorm, BecomesADepthwiseConvolutionIfItCannotBeFolded) {
  for (const Ints& sizes : {Ints{2, 3}, Ints{2, 3, 4}, Ints{2, 3, 2, 2}}) {
    TestProgram t;
    Node* x = t.input("x", sizes);
    const std::vector<float> factors = {1, -2, 3};
    t.output({batch_norm(t, x, factors)});
    const size_t inner = sizes.size() == 2 ? 1 : 4;
    std::vector<float> expected = ramp(6 * inner);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = normalized(expected[i], factors[i / inner % 3]);
    }
    const auto module = lowered(t);
    expect_near(run(*module, {ramp(6 * inner)})[0], expected);
    EXPECT_THAT(handles_of(*module, 1), ElementsAre(1));
  }
}

// XNNPACK has no int8 convolution with float weights.
TEST(BatchNorm, ComputesInF32BetweenInt8Tensors) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  const std::vector<float> factors = {1, -2, 3};
  Node* in = t.fake_quantize(x, 0.125, 0);
  Node* norm = batch_norm(t, in, factors);
  t.output({t.fake_quantize(norm, 0.125, 3)});
  const std::vector<float> input = {-1, 0.5f, 2, 0.25f, -0.375f, 1};
  std::vector<float> expected;
  for (size_t i = 0; i < input.size(); ++i) {
    const float exact = normalized(input[i], factors[i % 3]);
    expected.push_back(std::nearbyint(exact / 0.125f) * 0.125f);
  }
  expect_near(run(*lowered(t), {input})[0], expected);
}

}  // namespace
}  // namespace vitrine::aot::test
