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
    {"CatOfOne",
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
    {"PadAScalar",
     [](TestProgram& t) {
       return t.call("aten.constant_pad_nd.default",
                     {t.input("x", {}), std::vector<int64_t>(), 0.0}, {});
     },
     "no dims"},
    {"PadNegative",
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
    {"SliceSteps",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {matrix(t), 1, 0, 4, 2}, {2, 2});
     },
     "step"},
    {"SliceOfNothing",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {matrix(t), 1, 1, 1}, {2, 0});
     },
     "is empty"},
    {"SliceUnknown",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {t.dynamic_input("x", {1, 4}, 5), 0, 1, 3}, {-1, 4});
     },
     "known only"},
    {"SliceOfUnknown",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {t.dynamic_input("x", {1, 4}, 5), 1, 1, 3}, {1, 2});
     },
     "known only"},
    {"View",
     [](TestProgram& t) {
       return t.call("aten.view_copy.default", {matrix(t), std::vector<int64_t>{-1}}, {8});
     },
     ""},
    {"ViewOfSymbols",
     [](TestProgram& t) {
       Node* x = matrix(t);
       return t.call("aten.view_copy.default", {x, Argument::list({t.input("n", {}), 4})}, {2, 4});
     },
     "known only"},
    {"Unsqueeze",
     [](TestProgram& t) {
       return t.call("aten.unsqueeze_copy.default", {matrix(t), -1}, {2, 4, 1});
     },
     ""},
    {"UnsqueezeFirst",
     [](TestProgram& t) {
       return t.call("aten.unsqueeze_copy.default", {matrix(t), 0}, {1, 2, 4});
     },
     "not the last"},
    {"Clone",
     [](TestProgram& t) {
       return t.call("dim_order_ops._clone_dim_order.default", {images(t)}, {1, 4, 8, 8});
     },
     ""},
    {"CloneReorders",
     [](TestProgram& t) {
       return t.call("dim_order_ops._clone_dim_order.default",
                     {t.input_in_order("x", {1, 4, 8, 8}, {0, 2, 3, 1})}, {1, 4, 8, 8});
     },
     "order of dims"},
};

class DataMovementRules : public testing::TestWithParam<RuleRow> {};

TEST_P(DataMovementRules, Say) { expect_reason(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, DataMovementRules, testing::ValuesIn(kDataMovementRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
