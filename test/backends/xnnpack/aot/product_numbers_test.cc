// Products in int8 whose numbers XNNPACK would refuse, or compute wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A linear layer of four inputs and two outputs.
struct Numbers {
  double input_scale = 0.05;
  std::vector<float> weight_scales = {0.02f, 0.01f};
  std::vector<float> biases = {1, -2};
  double result_scale = 0.5;
  int64_t result_zero_point = 0;
  std::vector<double> activation = {};  // the bounds of one, or none
  int64_t result_min = -128;
};

std::string reason_for(const Numbers& with) {
  TestProgram t;
  Node* x = t.dequantise(t.quantise(matrix(t), with.input_scale, 0), with.input_scale, 0);
  Node* weight = t.dequantise_channels(t.int8_parameter("w", {2, 4}, std::vector<int8_t>(8, 1)),
                                       t.parameter("s", {2}, with.weight_scales),
                                       t.int8_parameter("z", {2}, {0, 0}), 0);
  Node* linear =
      t.call("aten.linear.default", {x, weight, t.parameter("b", {2}, with.biases)}, {2, 2});
  Node* last = linear;
  if (!with.activation.empty()) {
    last =
        t.call("aten.hardtanh.default", {linear, with.activation[0], with.activation[1]}, {2, 2});
  }
  t.call("quantized_decomposed.quantize_per_tensor.default",
         {last, with.result_scale, with.result_zero_point, with.result_min, 127, ScalarType::kChar},
         {2, 2}, ScalarType::kChar);
  return reason_against(t, linear);
}

TEST(ProductNumbers, AreUsual) { EXPECT_THAT(reason_for(Numbers()), IsEmpty()); }

TEST(ProductNumbers, ScaleSumsByLessThan256) {
  Numbers numbers{.input_scale = 1, .weight_scales = {1, 0.5f}, .result_scale = 1.0 / 255};
  EXPECT_THAT(reason_for(numbers), IsEmpty());
  numbers.result_scale = 1.0 / 256;
  EXPECT_THAT(reason_for(numbers), HasSubstr("too large for that of the result"));
}

TEST(ProductNumbers, HaveNormalScales) {
  EXPECT_THAT(reason_for(Numbers{.weight_scales = {1e-40f, 1}}),
              HasSubstr("a scale of its weight"));
  EXPECT_THAT(reason_for(Numbers{.input_scale = 1e-40}), HasSubstr("its input: its scale"));
  EXPECT_THAT(reason_for(Numbers{.result_scale = 1e-40}), HasSubstr("its result: its scale"));
}

// Four products of 255 and 128 at most are added to it.
TEST(ProductNumbers, LeaveRoomForTheSum) {
  Numbers numbers{.input_scale = 1, .weight_scales = {1, 1}, .biases = {0, 0}, .result_scale = 1};
  const float most = std::exp2(31.0f) - 4 * 255 * 128;
  for (const float sign : {-1.0f, 1.0f}) {
    numbers.biases[1] = sign * std::nextafter(most, 0.0f);
    EXPECT_THAT(reason_for(numbers), IsEmpty());
    numbers.biases[1] = sign * most;
    EXPECT_THAT(reason_for(numbers), HasSubstr("does not fit in 32 bits"));
  }
  // A channel of which hardly more than the bias is left.
  EXPECT_THAT(reason_for(Numbers{.weight_scales = {8e-9f, 0.01f}, .biases = {1, 1}}),
              HasSubstr("its bias 1"));
  EXPECT_THAT(reason_for(Numbers{.weight_scales = {8e-9f, 0.01f}, .biases = {0, 1}}), IsEmpty());
}

TEST(ProductNumbers, KeepMoreThanOneNumber) {
  EXPECT_THAT(reason_for(Numbers{.activation = {0, 6}}), IsEmpty());
  EXPECT_THAT(reason_for(Numbers{.activation = {1, 1.1}}), HasSubstr("one number"));
  // All that is above zero saturates.
  EXPECT_THAT(reason_for(Numbers{.result_zero_point = 127, .activation = {0, 6}}),
              HasSubstr("one number"));
}

TEST(ProductNumbers, AreNotBehindReversedBounds) {
  EXPECT_THAT(reason_for(Numbers{.activation = {2, 1}}), HasSubstr("the result is not"));
}

TEST(ProductNumbers, SaturateAsInt8) {
  EXPECT_THAT(reason_for(Numbers{.result_min = 0}),
              HasSubstr("its result: it is quantised to 0 to 127"));
}

}  // namespace
}  // namespace vitrine::aot::test
