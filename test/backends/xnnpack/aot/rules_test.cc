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
     "its conversion of f32 to f16"},
    {"ConversionToF16",
     call_of("dim_order_ops._to_dim_order_copy.default", {kMatrix}, {2, 4}, ScalarType::kHalf),
     "only converts a method input to the dtype of an output"},
    {"ConversionOfAResult",
     call_of("dim_order_ops._to_dim_order_copy.default",
             {call_of("aten.abs.default", {kMatrix}, {2, 4})}, {2, 4}, ScalarType::kHalf),
     ""},
    {"ConversionToF16InAnotherDimOrder",
     call_of("dim_order_ops._to_dim_order_copy.default", {channels_last_input_of({1, 4, 8, 8})},
             {1, 4, 8, 8}, ScalarType::kHalf),
     "changes the order of dims"},
    {"AddOfIntegers",
     call_of("aten.add.Tensor",
             {input_of("x", {2}, ScalarType::kInt), input_of("y", {2}, ScalarType::kInt)}, {2},
             ScalarType::kInt),
     "is i32, not f32"},
    {"MixedDtypes",
     call_of("aten.mul.Tensor", {input_of("x", {2}), input_of("y", {2}, ScalarType::kHalf)}, {2}),
     "different dtypes"},
    {"EmptyTensor", call_of("aten.abs.default", {input_of("x", {0, 2})}, {0, 2}), "is empty"},
    {"SevenDims",
     call_of("aten.abs.default", {input_of("x", {1, 1, 1, 1, 1, 1, 2})}, {1, 1, 1, 1, 1, 1, 2}),
     "more than 6 dims"},
    {"UnknownOperator", call_of("aten.tan.default", {kMatrix}, {2, 4}),
     "does not support aten.tan.default"},
    {"ConversionToAnotherDimOrder",
     call_of("dim_order_ops._to_dim_order_copy.default", {channels_last_input_of({1, 4, 8, 8})},
             {1, 4, 8, 8}),
     ""},
};

TEST_P(Rules, RejectCallsForTheExpectedReason) {
  TestProgram t;
  Node* node = GetParam().make(t);
  expect_reason(reason_for_rejection(t, node), GetParam().reason);
}

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

INSTANTIATE_TEST_SUITE_P(General, Rules, testing::ValuesIn(kGeneralRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
