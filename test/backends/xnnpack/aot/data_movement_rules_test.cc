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
    {"Pad", call_of("aten.constant_pad_nd.default", {kMatrix, Ints{1, 0}, 0.0}, {2, 5}), ""},
    {"PadOfAScalar", call_of("aten.constant_pad_nd.default", {input_of("x", {}), Ints(), 0.0}, {}),
     "no dims"},
    {"PadByNegativeAmounts",
     call_of("aten.constant_pad_nd.default", {kMatrix, Ints{-1, 0}, 0.0}, {2, 3}), "negative"},
    {"Slice", call_of("aten.slice_copy.Tensor", {kMatrix, 1, 1, 3}, {2, 2}), ""},
    {"SliceWithStep", call_of("aten.slice_copy.Tensor", {kMatrix, 1, 0, 4, 2}, {2, 2}), "step"},
    {"EmptySlice", call_of("aten.slice_copy.Tensor", {kMatrix, 1, 1, 1}, {2, 0}), "is empty"},
    {"SliceOfADynamicDim",
     call_of("aten.slice_copy.Tensor", {dynamic_input_of({1, 4}, 5), 0, 1, 3}, {-1, 4}),
     "known only"},
    {"SliceOfATensorWithAnotherDynamicDim",
     call_of("aten.slice_copy.Tensor", {dynamic_input_of({1, 4}, 5), 1, 1, 3}, {1, 2}),
     "known only"},
    {"View", call_of("aten.view_copy.default", {kMatrix, Ints{-1}}, {8}), ""},
    {"ViewWithComputedSizes",
     [](TestProgram& t) {
       Node* x = matrix(t);
       return t.call("aten.view_copy.default", {x, Argument::list({t.input("n", {}), 4})}, {2, 4});
     },
     "known only"},
    {"UnsqueezeLastDim", call_of("aten.unsqueeze_copy.default", {kMatrix, -1}, {2, 4, 1}), ""},
    {"UnsqueezeFirstDim", call_of("aten.unsqueeze_copy.default", {kMatrix, 0}, {1, 2, 4}),
     "not the last"},
    {"Clone", call_of("dim_order_ops._clone_dim_order.default", {kImages}, {1, 4, 8, 8}), ""},
    {"CloneToAnotherDimOrder",
     call_of("dim_order_ops._clone_dim_order.default", {channels_last_input_of({1, 4, 8, 8})},
             {1, 4, 8, 8}),
     "order of dims"},
};

INSTANTIATE_TEST_SUITE_P(DataMovement, Rules, testing::ValuesIn(kDataMovementRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
