// Tests the rules for the scales, biases and bounds of int8 products. The rules reject a
// product if XNNPACK would reject it or compute wrong results.
#include <cmath>

#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

// The parameters of a quantized linear call with four inputs and two outputs.
struct ProductParameters {
  double input_scale = 0.05;
  std::vector<float> weight_scales = {0.02f, 0.01f};
  std::vector<float> biases = {1, -2};
  double result_scale = 0.5;
  int64_t result_zero_point = 0;
  std::vector<double> activation = {};  // the bounds of the clamp; empty for no activation
  int64_t result_min = -128;
};

std::string reason_for(const ProductParameters& with) {
  TestProgram t;
  Node* x = t.fake_quantize(matrix(t), with.input_scale, 0);
  Node* weight = t.quantized_parameter("w", {2, 4}, std::vector<int8_t>(8, 1), with.weight_scales);
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
  return reason_for_rejection(t, linear);
}

struct ParameterRow {
  const char* name;
  ProductParameters with;
  const char* reason;  // a part of the expected reason; empty if the product passes
};

const ParameterRow kParameterRows[] = {
    {"Typical", {}, ""},
    {"RatioBelow256",
     {.input_scale = 1, .weight_scales = {1, 0.5f}, .result_scale = 1.0 / 255},
     ""},
    {"RatioOf256",
     {.input_scale = 1, .weight_scales = {1, 0.5f}, .result_scale = 1.0 / 256},
     "too large for the result's scale"},
    {"SubnormalWeightScale", {.weight_scales = {1e-40f, 1}}, "a scale of its weight"},
    {"SubnormalInputScale", {.input_scale = 1e-40}, "its input: its scale"},
    {"SubnormalResultScale", {.result_scale = 1e-40}, "its result: its scale"},
    // The tiny scale of a channel whose weights are almost zero makes the quantized bias large.
    {"LargeQuantizedBias", {.weight_scales = {8e-9f, 0.01f}, .biases = {1, 1}}, "its bias 1"},
    {"ZeroBias", {.weight_scales = {8e-9f, 0.01f}, .biases = {0, 1}}, ""},
    {"Relu6", {.activation = {0, 6}}, ""},
    {"ActivationOfOneValue", {.activation = {1, 1.1}}, "only one int8 value"},
    // With a zero point of 127, every result above zero saturates.
    {"SaturatedActivation",
     {.result_zero_point = 127, .activation = {0, 6}},
     "only one int8 value"},
    {"ReversedActivation", {.activation = {2, 1}}, "the result is not"},
    {"NarrowResult", {.result_min = 0}, "its result: its quantized range is 0 to 127"},
};

TEST(ProductParameterCheck, RejectsNumbersThatXnnpackDoesNotSupport) {
  for (const ParameterRow& row : kParameterRows) {
    SCOPED_TRACE(row.name);
    expect_reason(reason_for(row.with), row.reason);
  }
}

// The 32-bit accumulator holds the quantized bias and four products of at most 255 * 128 each.
TEST(ProductParameterCheck, RejectsBiasesThatOverflowTheAccumulator) {
  ProductParameters parameters{
      .input_scale = 1, .weight_scales = {1, 1}, .biases = {0, 0}, .result_scale = 1};
  const float max_bias = std::exp2(31.0f) - 4 * 255 * 128;
  for (const float sign : {-1.0f, 1.0f}) {
    parameters.biases[1] = sign * std::nextafter(max_bias, 0.0f);
    expect_reason(reason_for(parameters), "");
    parameters.biases[1] = sign * max_bias;
    expect_reason(reason_for(parameters), "the 32-bit sum");
  }
}

}  // namespace
}  // namespace vitrine::aot::test
