#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/backends/xnnpack/aot/blob_text.h"
#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(Quantised, MovesBetweenScalesAreInFloats) {
  TestProgram t;
  Node* x = t.dequantise(t.quantise(t.input("x", {2, 2}), 0.5, 0), 0.5, 0);
  Node* turned = t.call("aten.permute_copy.default", {x, Ints{1, 0}}, {2, 2});
  t.output({t.dequantise(t.quantise(turned, 0.25, 3), 0.25, 3)});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module),
              ElementsAre("Convert", "Convert", "StaticTranspose", "Convert", "Convert"));
  EXPECT_THAT(run(*module, {{1, 2, 3, 4}})[0], ElementsAre(1, 3, 2, 4));
}

TEST(Quantised, RowsAreQuantisedWhenTheyCome) {
  TestProgram t;
  Node* x = t.dynamically_quantised(t.input("x", {2, 4}));
  Node* w =
      t.dequantise_channels(t.int8_parameter("w", {1, 4}, {1, 2, 3, 4}),
                            t.parameter("s", {1}, {0.5f}), t.int8_parameter("z", {1}, {0}), 0);
  t.output({t.call("aten.linear.default", {x, w, t.parameter("b", {1}, {1})}, {2, 1})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Convert", "FullyConnected"));
  EXPECT_THAT(handles_of(*module, 2), ElementsAre(1, 2));
  EXPECT_THAT(handles_of(*module, 5), ElementsAre(3, 4, 5));
  expect_near(run(*module, {{1, 1, 1, 1, 0, 0, 0, -8}})[0], {6, -15}, 0.15f);
}

// Over one point: each output is a sum over the inputs.
TEST(Quantised, TransposedConvolutionsQuantiseWhatComes) {
  TestProgram t;
  Node* x = t.dynamically_quantised(t.input("x", {1, 2, 1, 1}));
  Node* w = t.dequantise_channels(t.int8_parameter("w", {2, 3, 1, 1}, {10, 20, -30, 40, 50, 60}),
                                  t.parameter("s", {3}, {0.1f, 0.2f, 0.05f}),
                                  t.int8_parameter("z", {3}, {0, 0, 0}), 1);
  t.output({convolution(t, x, w, t.parameter("b", {3}, {1, 0, -1}), {1, 3, 1, 1}, 0, 1, true)});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), testing::Contains("ConvTranspose2d"));
  // 1 * 1 + 2 * 4 + 1, 1 * 4 + 2 * 10, -1.5 + 2 * 3 - 1
  expect_near(run(*module, {{1, 2}})[0], {10, 24, 3.5f}, 0.15f);
}

}  // namespace
}  // namespace vitrine::aot::test
