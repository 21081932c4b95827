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
    {"ConversionToF16",
     [](TestProgram& t) {
       return t.call("dim_order_ops._to_dim_order_copy.default", {matrix(t)}, {2, 4},
                     ScalarType::kHalf);
     },
     "only converts an input of the method to an output"},
    {"ConversionOfAResult",
     [](TestProgram& t) {
       return t.call("dim_order_ops._to_dim_order_copy.default",
                     {t.call("aten.abs.default", {matrix(t)}, {2, 4})}, {2, 4}, ScalarType::kHalf);
     },
     ""},
    {"ConversionToF16InAnotherDimOrder",
     [](TestProgram& t) {
       return t.call("dim_order_ops._to_dim_order_copy.default",
                     {t.input_in_order("x", {1, 4, 8, 8}, {0, 2, 3, 1})}, {1, 4, 8, 8},
                     ScalarType::kHalf);
     },
     "changes the order of dims"},
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
    {"ConversionToAnotherDimOrder",
     [](TestProgram& t) {
       return t.call("dim_order_ops._to_dim_order_copy.default",
                     {t.input_in_order("x", {1, 4, 8, 8}, {0, 2, 3, 1})}, {1, 4, 8, 8});
     },
     ""},
};

class GeneralRules : public testing::TestWithParam<RuleRow> {};

TEST_P(GeneralRules, RejectCallsForTheExpectedReason) { expect_reason(GetParam()); }

TEST(Bf16Rules, DelegateBf16CallsOnlyIfEnabled) {
  TestProgram t;
  Node* x = t.input("x", {2, 4}, ScalarType::kBFloat16);
  Node* sum = t.call("aten.add.Tensor", {x, x}, {2, 4}, ScalarType::kBFloat16);
  Node* wide = t.call("dim_order_ops._to_dim_order_copy.default", {sum}, {2, 4});
  Node* half = t.call("dim_order_ops._to_dim_order_copy.default", {sum}, {2, 4}, ScalarType::kHalf);
  t.output({wide, half});
  const xnnpack::Parameters parameters(t.program);
  const auto check = [&](Node* node, bool allows_bf16) {
    return xnnpack::check({parameters, *node, xnnpack::kAnyPrecision, false, allows_bf16});
  };
  const auto rejection = check(sum, false);
  ASSERT_TRUE(rejection);
  EXPECT_THAT(rejection->rule, testing::HasSubstr("is bf16, not f32 or f16"));
  EXPECT_THAT(rejection->remedy, testing::HasSubstr("--backend-option enable_bf16"));
  EXPECT_FALSE(check(sum, true));
  EXPECT_FALSE(check(wide, true));
  EXPECT_TRUE(check(half, true)) << "XNNPACK does not convert between bf16 and f16";
}

INSTANTIATE_TEST_SUITE_P(All, GeneralRules, testing::ValuesIn(kGeneralRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
