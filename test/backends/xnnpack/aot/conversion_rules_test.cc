#include "backends/xnnpack/aot/partitioner.h"
#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

constexpr const char* kQuantise = "quantized_decomposed.quantize_per_tensor.default";

Node* quantise_to(TestProgram& t, Node* source, int64_t least, int64_t most) {
  return t.call(kQuantise, {source, 0.1, 0, least, most, ScalarType::kChar}, {2, 4},
                ScalarType::kChar);
}

const RuleRow kConversionRules[] = {
    {"QuantiseToBytes",
     [](TestProgram& t) {
       return t.call(kQuantise, {matrix(t), 0.1, 0, 0, 255, ScalarType::kByte}, {2, 4},
                     ScalarType::kByte);
     },
     "is u8"},
    {"QuantiseToInt8", [](TestProgram& t) { return t.quantise(matrix(t), 0.1, 0); }, ""},
    {"QuantiseTo4Bits", [](TestProgram& t) { return quantise_to(t, matrix(t), -8, 7); },
     "it is quantised to -8 to 7"},
    {"QuantiseSymmetrically", [](TestProgram& t) { return quantise_to(t, matrix(t), -127, 127); },
     "it is quantised to -127 to 127"},
    {"QuantiseByADenormalScale", [](TestProgram& t) { return t.quantise(matrix(t), 1e-40, 0); },
     "is not positive and normal"},
    {"QuantiseAroundANumberThatIsNotInt8",
     [](TestProgram& t) { return t.quantise(matrix(t), 0.1, 200); }, "zero point 200"},
    // Nothing saturates here.
    {"DequantiseFromANarrowRange",
     [](TestProgram& t) {
       return t.call(
           "quantized_decomposed.dequantize_per_tensor.default",
           {t.input("x", {2, 4}, ScalarType::kChar), 0.1, 0, -127, 127, ScalarType::kChar}, {2, 4});
     },
     ""},
    {"DequantiseAsQuantised",
     [](TestProgram& t) { return t.dequantise(t.quantise(matrix(t), 0.1, 3), 0.1, 3); }, ""},
    {"DequantiseWithAnotherScale",
     [](TestProgram& t) { return t.dequantise(t.quantise(matrix(t), 0.1, 3), 0.2, 3); },
     "other numbers"},
    {"DequantiseAnInputAgain",
     [](TestProgram& t) {
       Node* x = t.input("x", {2, 4}, ScalarType::kChar);
       t.dequantise(x, 0.1, 3);
       return t.dequantise(x, 0.1, 3);
     },
     ""},
    {"DequantiseAnInputOtherwise",
     [](TestProgram& t) {
       Node* x = t.input("x", {2, 4}, ScalarType::kChar);
       t.dequantise(x, 0.1, 3);
       return t.dequantise(x, 0.1, 4);
     },
     "other numbers"},
};

class ConversionRules : public testing::TestWithParam<RuleRow> {};

TEST_P(ConversionRules, Say) { expect_reason(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, ConversionRules, testing::ValuesIn(kConversionRules), row_name);

// A call between int8 numbers is in floats if its result, or an operand, is not int8 to XNNPACK.
TEST(NarrowRanges, LeaveCallsInFloats) {
  TestProgram t;
  Node* x = t.dequantise(t.quantise(matrix(t), 0.1, 0), 0.1, 0);
  Node* sum = t.call("aten.add.Tensor", {x, x}, {2, 4});
  Node* narrow = quantise_to(t, sum, -8, 7);
  Node* y = t.dequantise(narrow, 0.1, 0);
  Node* otherwise = t.dequantise(narrow, 0.2, 0);
  Node* product = t.call("aten.mul.Tensor", {y, otherwise}, {2, 4});
  Node* quantised = t.quantise(product, 0.1, 0);
  t.output({quantised});
  XnnpackPartitioner().partition(t.program);
  for (const Node* taken : {x, sum, y, product, quantised}) {
    EXPECT_NE(taken->meta.delegation_tag, "") << taken->name();
  }
  for (const Node* left : {narrow, otherwise}) {
    EXPECT_EQ(left->meta.delegation_tag, "") << left->name();
  }
}

}  // namespace
}  // namespace vitrine::aot::test
