#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

const RuleRow kElementwiseRules[] = {
    {"AddOfFloats", call_of("aten.add.Tensor", {kMatrix, input_of("y", {4})}, {2, 4}), ""},
    {"AddWithAlpha",
     call_of("aten.add.Tensor", {kMatrix, input_of("y", {4})}, {2, 4}, ScalarType::kFloat,
             {{"alpha", 2}}),
     "alpha"},
    {"Gelu", call_of("aten.gelu.default", {kMatrix}, {2, 4}), ""},
    {"GeluOfF16",
     call_of("aten.gelu.default", {input_of("x", {2}, ScalarType::kHalf)}, {2}, ScalarType::kHalf),
     "only in f32"},
    {"Square", call_of("aten.pow.Tensor_Scalar", {kMatrix, 2}, {2, 4}), ""},
    {"Cube", call_of("aten.pow.Tensor_Scalar", {kMatrix, 3}, {2, 4}), "exponent"},
    {"SquareWithAFloatExponent", call_of("aten.pow.Tensor_Scalar", {kMatrix, 2.0}, {2, 4}),
     "exponent"},
    {"SoftmaxOverLastDim", call_of("aten._softmax.default", {kMatrix, 1, false}, {2, 4}), ""},
    {"SoftmaxOverFirstDim", call_of("aten._softmax.default", {kMatrix, 0, false}, {2, 4}),
     "not the last one"},
    {"SoftmaxOverADimOutOfRange", call_of("aten._softmax.default", {kMatrix, 5, false}, {2, 4}),
     "dim 5"},
    {"Prelu", call_of("aten.prelu.default", {kImages, parameter_of("w", {4})}, {1, 4, 8, 8}), ""},
    {"PreluWithComputedSlopes",
     call_of("aten.prelu.default", {kImages, input_of("w", {4})}, {1, 4, 8, 8}), "slopes"},
    {"PreluOf3Dims",
     call_of("aten.prelu.default", {input_of("x", {2, 4, 3}), parameter_of("w", {4})}, {2, 4, 3}),
     "rank is 3"},
    {"MulByAPythonNumber", call_of("aten.mul.Tensor", {kMatrix, 2.0}, {2, 4}), "not a tensor"},
};

INSTANTIATE_TEST_SUITE_P(Elementwise, Rules, testing::ValuesIn(kElementwiseRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
