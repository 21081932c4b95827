#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

const Ints kTwo = {2, 2};
MakeNode average_of(const std::vector<RowArgument>& rest) {
  std::vector<RowArgument> arguments = {kImages, kTwo, kTwo, kZeros};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return call_of("aten.avg_pool2d.default", arguments, {1, 4, 4, 4});
}

Node* max_dim(TestProgram& t, int64_t dim, bool keep, int64_t index) {
  const TensorSpec spec = contiguous_spec(ScalarType::kFloat, {1, 4, 1, 8});
  Node* node = t.tuple_call("aten.max.dim", {images(t), dim, keep}, {spec, spec});
  t.item(node, index);
  return node;
}

const RuleRow kPoolingRules[] = {
    {"AveragePool", average_of({false, false}), ""},
    {"AveragePoolWithWindowSizeAsDivisor", average_of({false, false, 4}), ""},
    {"AveragePoolPadded",
     call_of("aten.avg_pool2d.default", {kImages, kTwo, kTwo, kOnes, false, false}, {1, 4, 5, 5}),
     ""},
    {"AveragePoolPaddedWithWindowSizeAsDivisor",
     call_of("aten.avg_pool2d.default", {kImages, kTwo, kTwo, kOnes, false, false, 4},
             {1, 4, 5, 5}),
     "the divisor counts padded elements"},
    {"AveragePoolCountsPadding", average_of({}), "counts padded elements"},
    {"AveragePoolRoundsUp", average_of({true, false}), "ceil_mode"},
    {"AveragePoolWithAnotherDivisor", average_of({false, false, 3}),
     "the divisor is not the size of the window"},
    {"MaxPool", call_of("aten.max_pool2d.default", {kImages, kTwo, kTwo}, {1, 4, 4, 4}), ""},
    {"MaxPoolWithStrideLargerThanWindow",
     call_of("aten.max_pool2d.default", {kImages, kTwo, Ints{3, 3}}, {1, 4, 3, 3}),
     "stride is larger"},
    {"MaxPoolOfOneElement",
     call_of("aten.max_pool2d.default", {kImages, kOnes, kOnes}, {1, 4, 8, 8}), "one element"},
    {"MaxPoolDilated",
     call_of("aten.max_pool2d.default", {kImages, Ints{3, 3}, kOnes, kOnes, kTwo}, {1, 4, 6, 6}),
     ""},
    {"MaxPoolDilatedOutsideItsInput",
     // The input has rows 0 to 7. The last windows contain row 7 and one row of padding, but
     // XNNPACK would read memory after row 7 for the padding.
     call_of("aten.max_pool2d.default", {kImages, kTwo, kOnes, kOnes, Ints{1, 2}}, {1, 4, 9, 8}),
     "outside the input"},
    {"MaxPoolOfADynamicBatchRoundsUp",
     call_of("aten.max_pool2d.default",
             {dynamic_input_of({1, 4, 7, 7}, 3), kTwo, kTwo, kZeros, kOnes, true}, {-1, 4, 4, 4}),
     "ceil_mode"},
    {"MaxDim", [](TestProgram& t) { return max_dim(t, 2, true, 0); }, ""},
    {"MaxDimUsedTwice",
     [](TestProgram& t) {
       Node* node = max_dim(t, 2, true, 0);
       t.item(node, 0);
       return node;
     },
     ""},
    {"MaxDimWithIndices", [](TestProgram& t) { return max_dim(t, 2, true, 1); }, "indices"},
    {"MaxDimOfChannels", [](TestProgram& t) { return max_dim(t, 1, true, 0); }, "height or width"},
    {"MaxDimWithoutKeepdim", [](TestProgram& t) { return max_dim(t, 2, false, 0); }, "fewer dims"},
    {"Mean", call_of("aten.mean.dim", {kImages, Ints{-1, -2}, true}, {1, 4, 1, 1}), ""},
    {"MeanOverOneDim", call_of("aten.mean.dim", {kImages, Ints{-1}, true}, {1, 4, 8, 1}),
     "height and width"},
    {"MeanWithoutKeepdim", call_of("aten.mean.dim", {kImages, Ints{2, 3}}, {1, 4}), "fewer dims"},
    {"Upsample",
     call_of("aten.upsample_bilinear2d.vec", {kImages, Argument(), false, Ints{2, 2}},
             {1, 4, 16, 16}),
     ""},
    {"UpsampleByAnotherScale",
     call_of("aten.upsample_bilinear2d.vec",
             {kImages, Argument(), false, Argument::list({1.6, 1.6})}, {1, 4, 12, 12}),
     "not the ratio"},
    {"UpsampleWithAlignedCorners",
     call_of("aten.upsample_bilinear2d.vec",
             {kImages, Argument(), true, Argument::list({1.6, 1.6})}, {1, 4, 12, 12}),
     ""},
    {"ClampWithReversedBounds",
     call_of("aten.hardtanh.default", {kImages, 0.5, -0.5}, {1, 4, 8, 8}), "lower bound"},
    {"UpsampleOfADynamicBatch",
     call_of("aten.upsample_bilinear2d.vec",
             {dynamic_input_of({1, 4, 8, 8}, 3), Argument(), false, Ints{2, 2}}, {-1, 4, 16, 16}),
     "known only"},
};

INSTANTIATE_TEST_SUITE_P(Pooling, Rules, testing::ValuesIn(kPoolingRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
