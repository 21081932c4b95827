#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

const RuleRow kDataMovementRules[] = {
    {"Cat",
     [](TestProgram& t) {
       return t.call("aten.cat.default", {Argument::list({matrix(t), t.input("y", {2, 4})})},
                     {4, 4});
     },
     ""},
    {"CatOfOneDistinctTensor",
     [](TestProgram& t) {
       Node* x = matrix(t);
       return t.call("aten.cat.default", {Argument::list({x, x})}, {4, 4});
     },
     "fewer than two"},
    {"Pad",
     [](TestProgram& t) {
       return t.call("aten.constant_pad_nd.default", {matrix(t), std::vector<int64_t>{1, 0}, 0.0},
                     {2, 5});
     },
     ""},
    {"PadOfAScalar",
     [](TestProgram& t) {
       return t.call("aten.constant_pad_nd.default",
                     {t.input("x", {}), std::vector<int64_t>(), 0.0}, {});
     },
     "no dims"},
    {"PadByNegativeAmounts",
     [](TestProgram& t) {
       return t.call("aten.constant_pad_nd.default", {matrix(t), std::vector<int64_t>{-1, 0}, 0.0},
                     {2, 3});
     },
     "negative"},
    {"Slice",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {matrix(t), 1, 1, 3}, {2, 2});
     },
     ""},
    {"SliceWithStep",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {matrix(t), 1, 0, 4, 2}, {2, 2});
     },
     "step"},
    {"EmptySlice",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {matrix(t), 1, 1, 1}, {2, 0});
     },
     "is empty"},
    {"SliceOfADynamicDim",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {t.dynamic_input("x", {1, 4}, 5), 0, 1, 3}, {-1, 4});
     },
     "known only"},
    {"SliceOfATensorWithAnotherDynamicDim",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {t.dynamic_input("x", {1, 4}, 5), 1, 1, 3}, {1, 2});
     },
     "known only"},
    {"View",
     [](TestProgram& t) {
       return t.call("aten.view_copy.default", {matrix(t), std::vector<int64_t>{-1}}, {8});
     },
     ""},
    {"ViewWithComputedSizes",
     [](TestProgram& t) {
       Node* x = matrix(t);
       return t.call("aten.view_copy.default", {x, Argument::list({t.input("n", {}), 4})}, {2, 4});
     },
     "known only"},
    {"UnsqueezeLastDim",
     [](TestProgram& t) {
       return t.call("aten.unsqueeze_copy.default", {matrix(t), -1}, {2, 4, 1});
     },
     ""},
    {"UnsqueezeFirstDim",
     [](TestProgram& t) {
       return t.call("aten.unsqueeze_copy.default", {matrix(t), 0}, {1, 2, 4});
     },
     "not the last"},
    {"Clone",
     [](TestProgram& t) {
       return t.call("dim_order_ops._clone_dim_order.default", {images(t)}, {1, 4, 8, 8});
     },
     ""},
    {"CloneToAnotherDimOrder",
     [](TestProgram& t) {
       return t.call("dim_order_ops._clone_dim_order.default",
                     {t.input_in_order("x", {1, 4, 8, 8}, {0, 2, 3, 1})}, {1, 4, 8, 8});
     },
     "order of dims"},
};

class DataMovementRules : public testing::TestWithParam<RuleRow> {};

TEST_P(DataMovementRules, RejectCallsForTheExpectedReason) { expect_reason(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, DataMovementRules, testing::ValuesIn(kDataMovementRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
