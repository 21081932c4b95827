#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

const RuleRow kElementwiseRules[] = {
    {"AddOfFloats",
     [](TestProgram& t) {
       return t.call("aten.add.Tensor", {matrix(t), t.input("y", {4})}, {2, 4});
     },
     ""},
    {"AddWithAlpha",
     [](TestProgram& t) {
       return t.call("aten.add.Tensor", {matrix(t), t.input("y", {4})}, {2, 4}, ScalarType::kFloat,
                     {{"alpha", 2}});
     },
     "alpha"},
    {"Gelu",
     [](TestProgram& t) {
       return t.call("aten.gelu.default", {matrix(t)}, {2, 4});
     },
     ""},
    {"GeluOfF16",
     [](TestProgram& t) {
       return t.call("aten.gelu.default", {t.input("x", {2}, ScalarType::kHalf)}, {2},
                     ScalarType::kHalf);
     },
     "only in f32"},
    {"Square",
     [](TestProgram& t) {
       return t.call("aten.pow.Tensor_Scalar", {matrix(t), 2}, {2, 4});
     },
     ""},
    {"Cube",
     [](TestProgram& t) {
       return t.call("aten.pow.Tensor_Scalar", {matrix(t), 3}, {2, 4});
     },
     "exponent"},
    {"SquareWithAFloatExponent",
     [](TestProgram& t) {
       return t.call("aten.pow.Tensor_Scalar", {matrix(t), 2.0}, {2, 4});
     },
     "exponent"},
    {"SoftmaxOverLastDim",
     [](TestProgram& t) {
       return t.call("aten._softmax.default", {matrix(t), 1, false}, {2, 4});
     },
     ""},
    {"SoftmaxOverFirstDim",
     [](TestProgram& t) {
       return t.call("aten._softmax.default", {matrix(t), 0, false}, {2, 4});
     },
     "not the last one"},
    {"SoftmaxOverADimOutOfRange",
     [](TestProgram& t) {
       return t.call("aten._softmax.default", {matrix(t), 5, false}, {2, 4});
     },
     "dim 5"},
    {"Prelu",
     [](TestProgram& t) {
       return t.call("aten.prelu.default", {images(t), t.parameter("w", {4})}, {1, 4, 8, 8});
     },
     ""},
    {"PreluWithComputedSlopes",
     [](TestProgram& t) {
       return t.call("aten.prelu.default", {images(t), t.input("w", {4})}, {1, 4, 8, 8});
     },
     "slopes"},
    {"PreluOf3Dims",
     [](TestProgram& t) {
       return t.call("aten.prelu.default", {t.input("x", {2, 4, 3}), t.parameter("w", {4})},
                     {2, 4, 3});
     },
     "rank is 3"},
    {"MulByAPythonNumber",
     [](TestProgram& t) {
       return t.call("aten.mul.Tensor", {matrix(t), 2.0}, {2, 4});
     },
     "not a tensor"},
};

class ElementwiseRules : public testing::TestWithParam<RuleRow> {};

TEST_P(ElementwiseRules, RejectCallsForTheExpectedReason) { expect_reason(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, ElementwiseRules, testing::ValuesIn(kElementwiseRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
