#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(Quantized, DataMovementsBetweenDifferentScalesAreComputedInF32) {
  TestProgram t;
  Node* x = t.fake_quantize(t.input("x", {2, 2}), 0.5, 0);
  Node* transposed = t.call("aten.permute_copy.default", {x, Ints{1, 0}}, {2, 2});
  t.output({t.fake_quantize(transposed, 0.25, 3)});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module),
              ElementsAre("Convert", "Convert", "StaticTranspose", "Convert", "Convert"));
  EXPECT_THAT(run(*module, {{1, 2, 3, 4}})[0], ElementsAre(1, 3, 2, 4));
}

// XNNPACK supports int8 additions and multiplications only for a limited range of scale ratios.
TEST(Quantized, SumsAndProductsWithUnsupportedScaleRatiosAreComputedInF32) {
  struct Scales {
    const char* target;
    float a, b, result;
    bool is_supported;
  };
  constexpr const char* kAdd = "aten.add.Tensor";
  constexpr const char* kSub = "aten.sub.Tensor";
  constexpr const char* kMul = "aten.mul.Tensor";
  for (const Scales& each : {Scales{kAdd, 1, 1, 0x1p10f, true},
                             {kAdd, 1, 1, 0x1.000002p10f, false},
                             {kAdd, 1, 1, 0x1p13f, false},
                             {kAdd, 1, 1, 0x1.000002p-8f, true},
                             {kAdd, 1, 1, 0x1p-8f, false},
                             {kAdd, 1, 1, 0x1p-22f, false},
                             {kAdd, 0x1p-11f, 1, 1, false},
                             {kSub, 1, 0x1p-11f, 1, false},
                             {kSub, 1, 1, 0x1p10f, true},
                             {kSub, 1, 1, 0x1p13f, false},
                             {kMul, 1, 1, 0x1p16f, true},
                             {kMul, 1, 1, 0x1.000002p16f, false},
                             {kMul, 0x1p4f, 0x1p4f, 1.5f, true},
                             {kMul, 0x1p4f, 0x1p4f, 1, false},
                             {kMul, 1, 1, 0x1p-30f, false}}) {
    const float a = each.a, b = each.b, result = each.result;
    const std::string_view target = each.target;
    SCOPED_TRACE(testing::Message() << target << " of " << a << " and " << b << " -> " << result);
    TestProgram t;
    Node* x = t.fake_quantize(t.input("x", {3}), a, 0);
    Node* y = t.fake_quantize(t.input("y", {3}), b, 0);
    Node* z = t.quantize(t.call(target, {x, y}, {3}), result, 0);
    t.output({t.dequantize(z, result, 0)});
    const auto module = lowered(t);
    // An int8 call needs three conversions, which quantize x and y and dequantize z. An f32 call
    // needs three more conversions, which dequantize its operands and quantize its result.
    EXPECT_EQ(std::ranges::count(node_types(*module), "Convert"), each.is_supported ? 3 : 6);
    const auto found = run(*module, {{100 * a, -50 * a, 0}, {90 * b, -100 * b, 0}})[0];
    const auto expected = [&](float p, float q) {
      const float exact = target == kAdd ? p + q : target == kSub ? p - q : p * q;
      return std::clamp(std::nearbyint(exact / result), -128.0f, 127.0f) * result;
    };
    EXPECT_THAT(found, ElementsAre(expected(100 * a, 90 * b), expected(-50 * a, -100 * b), 0));
  }
}

TEST(Quantized, DynamicLinearCallsQuantizeEachRow) {
  TestProgram t;
  Node* x = t.dynamically_quantized(t.input("x", {2, 4}));
  Node* w = t.quantized_parameter("w", {1, 4}, {1, 2, 3, 4}, {0.5f});
  t.output({t.call("aten.linear.default", {x, w, t.parameter("b", {1}, {1})}, {2, 1})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Convert", "FullyConnected"));
  EXPECT_THAT(handles_of(*module, 2), ElementsAre(1, 2));
  EXPECT_THAT(handles_of(*module, 5), ElementsAre(3, 4, 5));
  expect_near(run(*module, {{1, 1, 1, 1, 0, 0, 0, -8}})[0], {6, -15}, 0.15f);
}

// The image is one pixel, so each output is a weighted sum of the inputs.
TEST(Quantized, DynamicTransposedConvolutionsQuantizeTheirInput) {
  TestProgram t;
  Node* x = t.dynamically_quantized(t.input("x", {1, 2, 1, 1}));
  Node* w =
      t.quantized_parameter("w", {2, 3, 1, 1}, {10, 20, -30, 40, 50, 60}, {0.1f, 0.2f, 0.05f}, 1);
  t.output({convolution(t, x, w, t.parameter("b", {3}, {1, 0, -1}), {1, 3, 1, 1}, 0, 1, true)});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), testing::Contains("ConvTranspose2d"));
  // The inputs 1 and 2 are multiplied by the dequantized weights {1, 4, -1.5} and {4, 10, 3}. Then
  // the biases {1, 0, -1} are added.
  expect_near(run(*module, {{1, 2}})[0], {10, 24, 3.5f}, 0.15f);
}

}  // namespace
}  // namespace vitrine::aot::test
