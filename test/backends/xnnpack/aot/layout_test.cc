#include <gmock/gmock.h>

#include <cmath>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(Layouts, DataMovementKeepsTheInputLayout) {
  Convolved c;
  Node* slice = c.t.call("aten.slice_copy.Tensor", {c.call, 3, 1, 4}, {1, 2, 4, 3});
  Node* pad =
      c.t.call("aten.constant_pad_nd.default", {slice, Ints{0, 0, 1, 0}, 9.0}, {1, 2, 5, 3});
  Node* turned = c.t.call("aten.permute_copy.default", {pad, Ints{0, 2, 1, 3}}, {1, 5, 2, 3});
  Node* cat =
      c.t.call("aten.cat.default",
               {Argument::list({turned, c.t.call("aten.neg.default", {turned}, {1, 5, 2, 3})}), 1},
               {1, 10, 2, 3});
  c.t.output({cat});
  std::vector<float> expected;
  for (const float sign : {1.0f, -1.0f}) {
    for (int64_t y = -1; y < 4; ++y) {
      for (size_t ch = 0; ch < 2; ++ch) {
        for (int64_t x = 1; x < 4; ++x) {
          expected.push_back(sign * (y < 0 ? 9.0f : c.expected.at(ch, y, x)));
        }
      }
    }
  }
  const auto module = lowered(c.t);
  EXPECT_THAT(node_types(*module),
              ElementsAre("StaticTranspose", "Conv2d", "StaticSlice", "StaticConstantPad",
                          "StaticTranspose", "Negate", "Concatenate2", "StaticTranspose"));
  expect_near(run(*module, {c.image.data})[0], expected);
}

TEST(Layouts, RowMajorImagesAreConvertedToChannelsLast) {
  Convolved c;
  Node* y = c.t.input("y", {1, 2, 4, 5});
  c.t.output({c.t.call("aten.add.Tensor", {c.call, y}, {1, 2, 4, 5})});
  std::vector<float> expected = c.expected.data;
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += static_cast<float>(i);
  std::vector<float> other(40);
  for (size_t i = 0; i < other.size(); ++i) other[i] = static_cast<float>(i);
  const auto module = lowered(c.t);
  EXPECT_THAT(node_types(*module), ElementsAre("StaticTranspose", "StaticTranspose", "Conv2d",
                                               "Add", "StaticTranspose"));
  EXPECT_THAT(handles_of(*module, 65535), ElementsAre(1, 2));
  expect_near(run(*module, {c.image.data, other})[0], expected);
}

TEST(Layouts, ImagesBecomeRowMajorIfAnOperandHasADifferentRank) {
  Convolved c;
  Node* row = c.t.input("row", {5});
  c.t.output({c.t.call("aten.mul.Tensor", {c.call, row}, {1, 2, 4, 5})});
  std::vector<float> expected = c.expected.data;
  for (size_t i = 0; i < expected.size(); ++i) expected[i] *= static_cast<float>(i % 5);
  expect_near(run(*lowered(c.t), {c.image.data, {0, 1, 2, 3, 4}})[0], expected);
}

TEST(Layouts, SoftmaxAfterAConvolutionSumsOverTheWidth) {
  Convolved c;
  c.t.output({c.t.call("aten._softmax.default", {c.call, -1, false}, {1, 2, 4, 5})});
  std::vector<float> expected = c.expected.data;
  for (size_t row = 0; row < expected.size(); row += 5) {
    float sum = 0;
    for (size_t i = 0; i < 5; ++i) sum += expected[row + i] = std::exp(expected[row + i]);
    for (size_t i = 0; i < 5; ++i) expected[row + i] /= sum;
  }
  expect_near(run(*lowered(c.t), {c.image.data})[0], expected);
}

TEST(Layouts, PreluAfterAConvolutionHasOneSlopePerChannel) {
  Convolved c;
  Node* slopes = c.t.parameter("slopes", {2}, {0.5f, -2});
  c.t.output({c.t.call("aten.prelu.default", {c.call, slopes}, {1, 2, 4, 5})});
  std::vector<float> expected = c.expected.data;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] < 0) expected[i] *= i < 20 ? 0.5f : -2.0f;
  }
  expect_near(run(*lowered(c.t), {c.image.data})[0], expected);
}

TEST(Layouts, ChannelsLastInputsAndOutputsAreNotConverted) {
  TestProgram t;
  const std::vector<float> weight = ramp(6);
  Node* x = t.input_in_order("x", {1, 3, 4, 5}, {0, 2, 3, 1});
  Node* call = convolution(t, x, t.parameter("w", {2, 3, 1, 1}, weight), nullptr, {1, 2, 4, 5});
  TensorSpec spec = *call->tensor();
  spec.strides = dense_strides(spec.sizes, {0, 2, 3, 1});
  call->meta.value = spec;
  t.output({call});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Conv2d"));
  expect_near(run(*module, {ramp(60)})[0],
              convolve({3, 4, 5, ramp(60)}, weight, {}, 2, 1, 1, 0).data);
}

TEST(Layouts, ChannelsLastInputsAndOutputsMayHave5Dims) {
  const std::vector<uint8_t> last = {0, 2, 3, 4, 1};
  const std::vector<uint8_t> row_major = {0, 1, 2, 3, 4};
  for (const auto& [from, to] : {std::pair(last, row_major), std::pair(row_major, last)}) {
    TestProgram t;
    Node* x = t.input_in_order("x", {1, 2, 3, 4, 2}, from);
    Node* y = t.call("aten.neg.default", {x}, {1, 2, 3, 4, 2});
    TensorSpec spec = *y->tensor();
    spec.strides = dense_strides(spec.sizes, to);
    y->meta.value = spec;
    t.output({y});
    std::vector<float> expected = ramp(48);
    for (float& number : expected) number = -number;
    expect_near(run(*lowered(t), {ramp(48)})[0], expected);
  }
}

// The passes replace the batch norm with a convolution, whose result is channels last.
TEST(Layouts, OutputsHaveTheDimOrderOfTheProgram) {
  TestProgram t;
  Node* x = t.input_in_order("x", {1, 2, 1, 1}, {0, 2, 3, 1});
  Node* norm = batch_norm(t, x, {3, 5});
  norm->meta.value = contiguous_spec(ScalarType::kFloat, {1, 2, 1, 1});
  t.output({norm});
  expect_near(run(*lowered(t), {{1, 2}})[0], {normalized(1, 3), normalized(2, 5)});
}

// The emitter stores inputs in row-major order if they are neither row-major nor channels-last.
TEST(Layouts, InputsInUncommonDimOrdersAreReadAsRowMajor) {
  TestProgram t;
  Node* x = t.input_in_order("x", {1, 2, 3, 4}, {0, 1, 3, 2});
  Node* weight = t.parameter("w", {1, 2, 1, 1}, {1, 2});
  t.output({convolution(t, x, weight, nullptr, {1, 1, 3, 4})});
  const auto module = lowered(t);
  expect_near(run(*module, {ramp(24)})[0],
              convolve({2, 3, 4, ramp(24)}, {1, 2}, {}, 1, 1, 1, 0).data);
}

}  // namespace
}  // namespace vitrine::aot::test
