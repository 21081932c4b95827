#include "backends/xnnpack/aot/partitioner.h"
#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

constexpr const char* kQuantize = "quantized_decomposed.quantize_per_tensor.default";

Node* quantize_to(TestProgram& t, Node* source, int64_t min, int64_t max) {
  return t.call(kQuantize, {source, 0.1, 0, min, max, ScalarType::kChar}, {2, 4},
                ScalarType::kChar);
}

const RuleRow kConversionRules[] = {
    {"QuantizeToBytes",
     call_of(kQuantize, {kMatrix, 0.1, 0, 0, 255, ScalarType::kByte}, {2, 4}, ScalarType::kByte),
     "is u8"},
    {"QuantizeToInt8", [](TestProgram& t) { return t.quantize(matrix(t), 0.1, 0); }, ""},
    {"QuantizeTo4Bits", [](TestProgram& t) { return quantize_to(t, matrix(t), -8, 7); },
     "its quantized range is -8 to 7"},
    {"QuantizeSymmetrically", [](TestProgram& t) { return quantize_to(t, matrix(t), -127, 127); },
     "its quantized range is -127 to 127"},
    {"QuantizeByASubnormalScale", [](TestProgram& t) { return t.quantize(matrix(t), 1e-40, 0); },
     "is not positive and normal"},
    {"QuantizeWithAZeroPointOutOfRange",
     [](TestProgram& t) { return t.quantize(matrix(t), 0.1, 200); }, "zero point 200"},
    // A dequantize call does not clamp its input. So XNNPACK computes the same result for a narrow
    // quantized range as for the full range of the dtype.
    {"DequantizeFromANarrowRange",
     call_of("quantized_decomposed.dequantize_per_tensor.default",
             {input_of("x", {2, 4}, ScalarType::kChar), 0.1, 0, -127, 127, ScalarType::kChar},
             {2, 4}),
     ""},
    {"DequantizeAsQuantized", [](TestProgram& t) { return t.fake_quantize(matrix(t), 0.1, 3); },
     ""},
    {"DequantizeWithAnotherScale",
     [](TestProgram& t) { return t.dequantize(t.quantize(matrix(t), 0.1, 3), 0.2, 3); },
     "different parameters"},
    {"DequantizeAnInputTwice",
     [](TestProgram& t) {
       Node* x = t.input("x", {2, 4}, ScalarType::kChar);
       t.dequantize(x, 0.1, 3);
       return t.dequantize(x, 0.1, 3);
     },
     ""},
    {"DequantizeAnInputWithOtherParameters",
     [](TestProgram& t) {
       Node* x = t.input("x", {2, 4}, ScalarType::kChar);
       t.dequantize(x, 0.1, 3);
       return t.dequantize(x, 0.1, 4);
     },
     "different parameters"},
};

INSTANTIATE_TEST_SUITE_P(Conversion, Rules, testing::ValuesIn(kConversionRules), row_name);

// A quantized call is computed in f32 if XNNPACK does not support the quantization of its result or
// of an operand.
TEST(XnnpackPartitioner, CallsWithNarrowQuantizedRangesAreDelegatedInF32) {
  TestProgram t;
  Node* x = t.fake_quantize(matrix(t), 0.1, 0);
  Node* sum = t.call("aten.add.Tensor", {x, x}, {2, 4});
  Node* narrow = quantize_to(t, sum, -8, 7);
  Node* y = t.dequantize(narrow, 0.1, 0);
  Node* rescaled = t.dequantize(narrow, 0.2, 0);
  Node* product = t.call("aten.mul.Tensor", {y, rescaled}, {2, 4});
  Node* quantized = t.quantize(product, 0.1, 0);
  t.output({quantized});
  XnnpackPartitioner().partition(t.program);
  for (const Node* delegated : {x, sum, y, product, quantized}) {
    EXPECT_NE(delegated->meta.delegation_tag, "") << delegated->name();
  }
  for (const Node* rejected : {narrow, rescaled}) {
    EXPECT_EQ(rejected->meta.delegation_tag, "") << rejected->name();
  }
}

}  // namespace
}  // namespace vitrine::aot::test
