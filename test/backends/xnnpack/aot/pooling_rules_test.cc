#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

const std::vector<int64_t> kTwo = {2, 2};
Node* pool(TestProgram& t, ArgumentList rest) {
  ArgumentList args = {images(t), kTwo, kTwo, kZeros};
  args.insert(args.end(), rest.begin(), rest.end());
  return t.call("aten.avg_pool2d.default", args, {1, 4, 4, 4});
}

Node* max_dim(TestProgram& t, int64_t dim, bool keep, int64_t index) {
  Node* input = images(t);
  Node* node = t.call("aten.max.dim", {input, dim, keep}, {});
  const Value value = contiguous_spec(ScalarType::kFloat, {1, 4, 1, 8});
  node->meta.value = Value(Value::Items{value, value});
  Node* item = t.program.graph->call(getitem(), {node, index});
  item->meta.value = value;
  return node;
}

const RuleRow kPoolingRules[] = {
    {"AveragePool",
     [](TestProgram& t) {
       return pool(t, {false, false});
     },
     ""},
    {"AveragePoolWithWindowSizeAsDivisor",
     [](TestProgram& t) {
       return pool(t, {false, false, 4});
     },
     ""},
    {"AveragePoolPadded",
     [](TestProgram& t) {
       return t.call("aten.avg_pool2d.default", {images(t), kTwo, kTwo, kOnes, false, false},
                     {1, 4, 5, 5});
     },
     ""},
    {"AveragePoolPaddedWithWindowSizeAsDivisor",
     [](TestProgram& t) {
       return t.call("aten.avg_pool2d.default", {images(t), kTwo, kTwo, kOnes, false, false, 4},
                     {1, 4, 5, 5});
     },
     "the divisor counts padded elements"},
    {"AveragePoolCountsPadding", [](TestProgram& t) { return pool(t, {}); },
     "counts padded elements"},
    {"AveragePoolRoundsUp",
     [](TestProgram& t) {
       return pool(t, {true, false});
     },
     "ceil_mode"},
    {"AveragePoolWithAnotherDivisor",
     [](TestProgram& t) {
       return pool(t, {false, false, 3});
     },
     "the divisor is not the size of the window"},
    {"MaxPool",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default", {images(t), kTwo, kTwo}, {1, 4, 4, 4});
     },
     ""},
    {"MaxPoolWithStrideLargerThanWindow",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default", {images(t), kTwo, std::vector<int64_t>{3, 3}},
                     {1, 4, 3, 3});
     },
     "stride is larger"},
    {"MaxPoolOfOneElement",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default", {images(t), kOnes, kOnes}, {1, 4, 8, 8});
     },
     "one element"},
    {"MaxPoolDilated",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default",
                     {images(t), std::vector<int64_t>{3, 3}, kOnes, kOnes, kTwo}, {1, 4, 6, 6});
     },
     ""},
    {"MaxPoolDilatedOutsideItsInput",
     [](TestProgram& t) {
       // The last window begins at row 7. XNNPACK would read row 8 in place of the padding.
       return t.call("aten.max_pool2d.default",
                     {images(t), kTwo, kOnes, kOnes, std::vector<int64_t>{1, 2}}, {1, 4, 9, 8});
     },
     "outside the input"},
    {"MaxPoolOfADynamicBatchRoundsUp",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default",
                     {t.dynamic_input("x", {1, 4, 7, 7}, 3), kTwo, kTwo, kZeros, kOnes, true},
                     {-1, 4, 4, 4});
     },
     "ceil_mode"},
    {"MaxDim", [](TestProgram& t) { return max_dim(t, 2, true, 0); }, ""},
    {"MaxDimUsedTwice",
     [](TestProgram& t) {
       Node* node = max_dim(t, 2, true, 0);
       t.program.graph->call(getitem(), {node, 0})->meta.value =
           contiguous_spec(ScalarType::kFloat, {1, 4, 1, 8});
       return node;
     },
     ""},
    {"MaxDimWithIndices", [](TestProgram& t) { return max_dim(t, 2, true, 1); }, "indices"},
    {"MaxDimOfChannels", [](TestProgram& t) { return max_dim(t, 1, true, 0); }, "height or width"},
    {"MaxDimWithoutKeepdim", [](TestProgram& t) { return max_dim(t, 2, false, 0); }, "fewer dims"},
    {"Mean",
     [](TestProgram& t) {
       return t.call("aten.mean.dim", {images(t), std::vector<int64_t>{-1, -2}, true},
                     {1, 4, 1, 1});
     },
     ""},
    {"MeanOverOneDim",
     [](TestProgram& t) {
       return t.call("aten.mean.dim", {images(t), std::vector<int64_t>{-1}, true}, {1, 4, 8, 1});
     },
     "height and width"},
    {"MeanWithoutKeepdim",
     [](TestProgram& t) {
       return t.call("aten.mean.dim", {images(t), std::vector<int64_t>{2, 3}}, {1, 4});
     },
     "fewer dims"},
    {"Upsample",
     [](TestProgram& t) {
       return t.call("aten.upsample_bilinear2d.vec",
                     {images(t), Argument(), false, std::vector<int64_t>{2, 2}}, {1, 4, 16, 16});
     },
     ""},
    {"UpsampleByAnotherScale",
     [](TestProgram& t) {
       return t.call("aten.upsample_bilinear2d.vec",
                     {images(t), Argument(), false, Argument::list({1.6, 1.6})}, {1, 4, 12, 12});
     },
     "not the ratio"},
    {"UpsampleWithAlignedCorners",
     [](TestProgram& t) {
       return t.call("aten.upsample_bilinear2d.vec",
                     {images(t), Argument(), true, Argument::list({1.6, 1.6})}, {1, 4, 12, 12});
     },
     ""},
    {"ClampWithReversedBounds",
     [](TestProgram& t) {
       return t.call("aten.hardtanh.default", {images(t), 0.5, -0.5}, {1, 4, 8, 8});
     },
     "lower bound"},
    {"UpsampleOfADynamicBatch",
     [](TestProgram& t) {
       return t.call(
           "aten.upsample_bilinear2d.vec",
           {t.dynamic_input("x", {1, 4, 8, 8}, 3), Argument(), false, std::vector<int64_t>{2, 2}},
           {-1, 4, 16, 16});
     },
     "known only"},
};

class PoolingRules : public testing::TestWithParam<RuleRow> {};

TEST_P(PoolingRules, RejectCallsForTheExpectedReason) { expect_reason(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, PoolingRules, testing::ValuesIn(kPoolingRules), row_name);

}  // namespace
}  // namespace vitrine::aot::test
