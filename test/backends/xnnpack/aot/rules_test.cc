#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

const RuleRow kGeneralRules[] = {
    {"ResultOfAnotherDtype",
     [](TestProgram& t) {
       Node* call = t.call("aten.mul.Tensor", {images(t), t.input("y", {1})}, {1, 4, 8, 8});
       TensorSpec spec = *call->tensor();
       spec.dtype = ScalarType::kHalf;
       call->meta.value = spec;
       return call;
     },
     "converts"},
    {"ToHalf",
     [](TestProgram& t) {
       return t.call("dim_order_ops._to_dim_order_copy.default", {matrix(t)}, {2, 4},
                     ScalarType::kHalf);
     },
     "converts f32 to f16"},
    {"AddOfIntegers",
     [](TestProgram& t) {
       return t.call("aten.add.Tensor",
                     {t.input("x", {2}, ScalarType::kInt), t.input("y", {2}, ScalarType::kInt)},
                     {2}, ScalarType::kInt);
     },
     "is i32, not f32"},
    {"MixedDtypes",
     [](TestProgram& t) {
       return t.call("aten.mul.Tensor", {t.input("x", {2}), t.input("y", {2}, ScalarType::kHalf)},
                     {2});
     },
     "different dtypes"},
    {"EmptyTensor",
     [](TestProgram& t) {
       return t.call("aten.abs.default", {t.input("x", {0, 2})}, {0, 2});
     },
     "is empty"},
    {"SevenDims",
     [](TestProgram& t) {
       return t.call("aten.abs.default", {t.input("x", {1, 1, 1, 1, 1, 1, 2})},
                     {1, 1, 1, 1, 1, 1, 2});
     },
     "more than 6 dims"},
    {"UnknownOperator",
     [](TestProgram& t) {
       return t.call("aten.tan.default", {matrix(t)}, {2, 4});
     },
     "does not support aten.tan.default"},
    {"ToOtherOrder",
     [](TestProgram& t) {
       return t.call("dim_order_ops._to_dim_order_copy.default",
                     {t.input_in_order("x", {1, 4, 8, 8}, {0, 2, 3, 1})}, {1, 4, 8, 8});
     },
     ""},
};

class GeneralRules : public testing::TestWithParam<RuleRow> {};

TEST_P(GeneralRules, Say) { expect_reason(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, GeneralRules, testing::ValuesIn(kGeneralRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
