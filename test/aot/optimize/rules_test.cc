#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/models/layers.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/optimize/optimized_program.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TensorData ramp(std::vector<int64_t> sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  Values values;
  for (int64_t i = 0; i < count; ++i) values.push_back(0.25 * static_cast<double>(i % 13) - 1);
  return floats(std::move(sizes), values);
}

TEST(CopiesToViews, ReplacesCopiesThatKeepElementOrder) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 1, 3});
  Node* y = build.call("aten.neg.default", {x});
  y = build.call("aten.squeeze.dim", {y, 1});
  y = build.call("aten.unsqueeze.default", {y, 0});
  y = build.call("aten.permute.default", {y, std::vector<int64_t>{1, 0, 2}});
  y = build.call("aten.expand.default", {y, std::vector<int64_t>{2, 1, 3}});
  const OptimizedProgram made = optimized(build, {build.call("aten.abs.default", {y})});
  EXPECT_THAT(made.calls(), ElementsAre("neg", "abs"));
  made.expect_same_results({ramp({2, 1, 3})});
}

TEST(CopiesToViews, KeepsCopiesThatChangeElementOrder) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 1, 3});
  Node* y = build.call("aten.permute.default", {x, std::vector<int64_t>{2, 1, 0}});
  y = build.call("aten.expand.default", {y, std::vector<int64_t>{3, 4, 2}});
  const OptimizedProgram made = optimized(build, {build.call("aten.abs.default", {y})});
  EXPECT_THAT(made.calls(), ElementsAre("permute_copy", "expand_copy", "abs"));
  made.expect_same_results({ramp({2, 1, 3})});
}

// Without the copy, the result could be a view of the input. The caller may change the input before
// it reads the result.
TEST(CopiesToViews, KeepsCopiesForResults) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {4});
  Node* y = build.call("aten.neg.default", {x});
  Node* copy = build.call("aten.clone.default", {x});
  Node* same = build.call("aten.clone.default", {y});
  const OptimizedProgram made = optimized(build, {copy, y, same});
  EXPECT_THAT(made.calls(), ElementsAre("neg", "_clone_dim_order", "_clone_dim_order"));
  made.expect_same_results({ramp({4})});
}

TEST(CopiesToViews, SupportsOneDynamicSize) {
  ModelBuilder build("Net");
  const SymInt length = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {length, 3});
  Node* y = build.call("aten.neg.default", {x});
  y = build.call("aten.unsqueeze.default", {y, 0});
  const OptimizedProgram made = optimized(build, {build.call("aten.abs.default", {y})});
  EXPECT_THAT(made.calls(), ElementsAre("neg", "view_copy", "abs"));
  made.expect_same_results({ramp({5, 3})});
}

TEST(ComposePermutations, CombinesTwoPermutations) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3, 4});
  Node* y = build.call("aten.permute.default", {x, std::vector<int64_t>{1, 2, 0}});
  y = build.call("aten.abs.default", {build.call("aten.transpose.int", {y, 0, -1})});
  const OptimizedProgram made = optimized(build, {y});
  EXPECT_THAT(made.calls(), ElementsAre("permute_copy", "abs"));
  made.expect_same_results({ramp({2, 3, 4})});
}

TEST(ComposePermutations, RemovesPermutationsThatCancel) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3, 4});
  Node* y = build.call("aten.permute.default", {x, std::vector<int64_t>{1, 2, 0}});
  y = build.call("aten.permute.default", {y, std::vector<int64_t>{2, 0, 1}});
  const OptimizedProgram made = optimized(build, {build.call("aten.abs.default", {y})});
  EXPECT_THAT(made.calls(), ElementsAre("abs"));
  made.expect_same_results({ramp({2, 3, 4})});
}

TEST(RemoveExpansions, RemovesExpansionsBeforeBroadcastingCalls) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* row = build.input("row", ScalarType::kFloat, {3});
  Node* column = build.input("column", ScalarType::kFloat, {2, 1});
  const std::vector<int64_t> sizes{2, 3};
  Node* y = build.call("aten.mul.Tensor", {build.call("aten.expand.default", {row, sizes}), x});
  y = build.call("aten.sub.Tensor", {y, build.call("aten.expand.default", {column, sizes})});
  const OptimizedProgram made = optimized(build, {y});
  EXPECT_THAT(made.calls(), ElementsAre("mul.Tensor", "sub.Tensor"));
  made.expect_same_results({ramp({2, 3}), ramp({3}), ramp({2, 1})});
}

// Without the expand call, the result would have another size.
TEST(RemoveExpansions, KeepsExpansionThatDeterminesResultSize) {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {3});
  Node* column = build.input("column", ScalarType::kFloat, {2, 1});
  Node* expanded = build.call("aten.expand.default", {row, std::vector<int64_t>{5, 2, 3}});
  const OptimizedProgram made =
      optimized(build, {build.call("aten.add.Tensor", {expanded, column})});
  EXPECT_THAT(made.calls(), ElementsAre("expand_copy", "add.Tensor"));
  made.expect_same_results({ramp({3}), ramp({2, 1})});
}

TEST(RemoveNeutralCalls, RemovesNeutralCalls) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {3});
  Node* y = build.call("aten.mul.Tensor", {x, 1});
  y = build.call("aten.add.Tensor", {y, -0.0});
  y = build.call("aten.sub.Tensor", {y, 0.0});
  y = build.call("aten.div.Tensor", {y, 1.0});
  const OptimizedProgram made = optimized(build, {build.call("aten.abs.default", {y})});
  EXPECT_THAT(made.calls(), ElementsAre("abs"));
  made.expect_same_results({ramp({3})});
}

// The calls 0 - x and 1 / x do not return x. Dividing an integer by 1 converts it to float.
TEST(RemoveNeutralCalls, KeepsCallsThatAreNotNeutral) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {3});
  Node* n = build.input("n", ScalarType::kLong, {3});
  Node* zero = build.buffer("zero", floats({1}, {0}));
  Node* one = build.buffer("one", floats({1}, {1}));
  const OptimizedProgram made = optimized(
      build, {build.call("aten.sub.Tensor", {zero, x}), build.call("aten.div.Tensor", {one, x}),
              build.call("aten.div.Tensor", {n, 1})});
  EXPECT_THAT(made.calls(), Contains("sub.Tensor"));
  EXPECT_THAT(made.calls(), Contains("div.Tensor"));
  EXPECT_THAT(made.calls(), Contains("_to_dim_order_copy"));
  made.expect_same_results({ramp({3}), integers({3}, {1, -2, 3})});
}

// -0.0 + 0.0 is 0.0. The reciprocals make the sign visible.
TEST(RemoveNeutralCalls, KeepsCallsThatChangeSignOfZero) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1});
  const auto reciprocal = [&](const char* target, ArgumentList args, ArgumentMap kwargs = {}) {
    Node* y = build.call(target, std::move(args), std::move(kwargs));
    return build.call("aten.reciprocal.default", {y});
  };
  const OptimizedProgram made = optimized(
      build, {reciprocal("aten.add.Tensor", {x, 0.0}), reciprocal("aten.sub.Tensor", {x, -0.0}),
              reciprocal("aten.add.Tensor", {x, -0.0}, {{"alpha", -1}})});
  const std::vector<TensorData> inputs = {floats({1}, {-0.0})};
  const std::vector<TensorData> found = evaluate(made.program, inputs);
  for (const TensorData& result : found) EXPECT_EQ(values_of(result), Values{kInfinity});
}

TEST(RemoveNeutralCalls, RemovesLosslessConversions) {
  const auto converted = [](ScalarType through) {
    ModelBuilder build("Net");
    Node* x = build.input("x", ScalarType::kFloat, {3});
    Node* y = build.call("aten.to.dtype", {x, through});
    y = build.call("aten.to.dtype", {y, ScalarType::kFloat});
    const OptimizedProgram made = optimized(build, {build.call("aten.abs.default", {y})});
    made.expect_same_results({ramp({3})});
    return made.calls().size();
  };
  EXPECT_EQ(converted(ScalarType::kDouble), 1U);
  EXPECT_EQ(converted(ScalarType::kInt), 3U);
}

TEST(ShareResults, RemovesRepeatedCalls) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* a = build.call("aten.exp.default", {x});
  Node* b = build.call("aten.exp.default", {x});
  Node* c = build.call("aten.sum.dim_IntList", {x, std::vector<int64_t>{0}});
  Node* d = build.call("aten.sum.dim_IntList", {x, std::vector<int64_t>{1}});
  const OptimizedProgram made = optimized(build, {build.call("aten.add.Tensor", {a, b}), c, d});
  EXPECT_THAT(made.calls(), Contains("exp").Times(1));
  EXPECT_THAT(made.calls(), Contains("sum.dim_IntList").Times(2));
  made.expect_same_results({ramp({2, 3})});
}

TEST(ShareResults, TreatsPositiveAndNegativeZeroAsDifferent) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1});
  const auto reciprocal_of = [&](double zero) {
    return build.call("aten.reciprocal.default", {build.call("aten.full_like.default", {x, zero})});
  };
  const OptimizedProgram made = optimized(build, {reciprocal_of(0.0), reciprocal_of(-0.0)});
  const std::vector<TensorData> inputs = {floats({1}, {1})};
  const std::vector<TensorData> found = evaluate(made.program, inputs);
  EXPECT_EQ(values_of(found[0]), Values{kInfinity});
  EXPECT_EQ(values_of(found[1]), Values{-kInfinity});
}

// A program may write to an uninitialized tensor, so each call must return a separate tensor.
TEST(ShareResults, KeepsUninitializedTensors) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  const OptimizedProgram made = optimized(build, {build.call("aten.empty_like.default", {x}),
                                                  build.call("aten.empty_like.default", {x})});
  EXPECT_THAT(made.calls(), Contains(testing::HasSubstr("empty")).Times(2));
}

TEST(MergeScales, MovesBothScalesToOneOperand) {
  ModelBuilder build("Net");
  Node* q = build.input("q", ScalarType::kFloat, {2, 3, 4});
  Node* k = build.input("k", ScalarType::kFloat, {2, 5, 4});
  Node* left = build.call("aten.mul.Scalar", {q, 0.5});
  Node* right = build.call("aten.mul.Scalar", {build.call("aten.transpose.int", {k, 1, 2}), 0.25});
  const OptimizedProgram made = optimized(build, {build.call("aten.bmm.default", {left, right})});
  EXPECT_THAT(made.calls(), Contains("mul.Scalar").Times(1));
  made.expect_same_results({ramp({2, 3, 4}), ramp({2, 5, 4})});
}

// The product of the scales, or its product with an operand, would be infinite or 0 in f32.
TEST(MergeScales, KeepsScalesIfAProductCouldOverflowOrUnderflow) {
  struct Scales {
    double left, right, x, y;  // their product is always 4
  };
  for (const Scales& scales : {Scales{1e30, 1e30, 2e-30, 2e-30}, Scales{1e-30, 1e-30, 2e30, 2e30},
                               Scales{1e19, 1e19, 2e-19, 2e-19}, Scales{1e19, 1e18, 1e2, 4e-39}}) {
    ModelBuilder build("Net");
    Node* x = build.input("x", ScalarType::kFloat, {1, 1, 1});
    Node* y = build.input("y", ScalarType::kFloat, {1, 1, 1});
    Node* left = build.call("aten.mul.Scalar", {x, scales.left});
    Node* right = build.call("aten.mul.Scalar", {y, scales.right});
    const OptimizedProgram made = optimized(build, {build.call("aten.bmm.default", {left, right})});
    EXPECT_THAT(made.calls(), Contains("mul.Scalar").Times(2));
    const std::vector<TensorData> inputs = {floats({1, 1, 1}, {scales.x}),
                                            floats({1, 1, 1}, {scales.y})};
    expect_near(evaluate(made.program, inputs)[0], {4});
  }
}

// The call abs also uses the result of the scale `right`, so this scale must not be removed.
TEST(MergeScales, KeepsScalesWhoseResultHasAnotherUser) {
  ModelBuilder build("Net");
  Node* q = build.input("q", ScalarType::kFloat, {2, 3, 3});
  Node* left = build.call("aten.mul.Scalar", {q, 0.5});
  Node* right = build.call("aten.mul.Scalar", {q, 0.25});
  Node* product = build.call("aten.bmm.default", {left, right});
  const OptimizedProgram made =
      optimized(build, {product, build.call("aten.abs.default", {right})});
  EXPECT_THAT(made.calls(), Contains("mul.Scalar").Times(2));
  made.expect_same_results({ramp({2, 3, 3})});
}

TEST(RewriteForBackends, ReplacesSelectCallsAndScalarFactors) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {3, 4, 2});
  Node* first = build.call("aten.select.int", {x, 0, 1});
  Node* last = build.call("aten.select.int", {x, 1, -1});
  last = build.call("aten.mul.Scalar", {last, 0.5});
  const OptimizedProgram made =
      optimized(build, {build.call("aten.abs.default", {first}), last}, true);
  EXPECT_THAT(made.calls(), Not(Contains("select_copy.int")));
  EXPECT_THAT(made.calls(), Not(Contains("mul.Scalar")));
  EXPECT_THAT(made.calls(), Contains("slice_copy.Tensor").Times(2));
  made.expect_same_results({ramp({3, 4, 2})});
}

TEST(RewriteForBackends, ReplacesSplitWithSlices) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 6});
  const auto part = [](int64_t size) {
    return Value(contiguous_spec(ScalarType::kFloat, {2, size}));
  };
  Node* parts =
      build.call_as("aten.split_with_sizes.default", {x, std::vector<int64_t>{1, 2, 3}, -1}, {},
                    Value(Value::Items{part(1), part(2), part(3)}));
  Node* sum = build.call("aten.mul.Tensor", {build.item(parts, 0), build.item(parts, 2)});
  const OptimizedProgram made = optimized(build, {sum, build.item(parts, 1)}, true);
  EXPECT_THAT(made.calls(), Not(Contains("split_with_sizes_copy")));
  EXPECT_THAT(made.calls(), Contains("slice_copy.Tensor").Times(3));
  made.expect_same_results({ramp({2, 6})});
}

// The integer factor stays an integer, because a float cannot represent all integers.
TEST(RewriteForBackends, KeepsScalarFactorsOfIntegerTensors) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kLong, {3});
  const OptimizedProgram made = optimized(build, {build.call("aten.mul.Scalar", {x, 2})}, true);
  EXPECT_THAT(made.calls(), ElementsAre("mul.Scalar"));
  made.expect_same_results({integers({3}, {1, -2, 3})});
}

Node* padded(ModelBuilder& build, Node* x, std::vector<int64_t> pad, double value = 0) {
  return build.call("aten.constant_pad_nd.default", {x, pad, value});
}

TEST(FoldPads, FoldsPadsIntoAllConvolutions) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 3, 5, 6});
  Node* y = padded(build, x, {1, 1, 2, 2});
  const OptimizedProgram made =
      optimized(build, {nn::conv2d(build, "a", y, 4, {.padding = 1}),
                        nn::conv2d(build, "b", y, 2, {.kernel = 5, .stride = 2})});
  EXPECT_THAT(made.calls(), ElementsAre("convolution", "convolution"));
  made.expect_same_results({ramp({1, 3, 5, 6})});
}

TEST(FoldPads, KeepsPadsThatConvolutionsCannotExpress) {
  const std::vector<int64_t> kPads[] = {{0, 1, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 1, 1, 1}, {-1, -1}};
  for (const std::vector<int64_t>& pad : kPads) {
    ModelBuilder build("Net");
    Node* x = build.input("x", ScalarType::kFloat, {1, 3, 5, 6});
    Node* y = nn::conv2d(build, "conv", padded(build, x, pad), 4, {.padding = 1});
    const OptimizedProgram made = optimized(build, {y});
    EXPECT_THAT(made.calls(), ElementsAre("constant_pad_nd", "convolution"));
    made.expect_same_results({ramp({1, 3, 5, 6})});
  }
}

TEST(FoldPads, KeepsNonzeroPadsAndPadsWithOtherUsers) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 3, 5, 6});
  Node* ones = padded(build, x, {1, 1, 1, 1}, 1);
  Node* zeros = padded(build, x, {1, 1, 1, 1});
  const OptimizedProgram made =
      optimized(build, {nn::conv2d(build, "a", ones, 4, {}), nn::conv2d(build, "b", zeros, 4, {}),
                        build.call("aten.neg.default", {zeros})});
  EXPECT_THAT(made.calls(), ElementsAre("constant_pad_nd", "constant_pad_nd", "convolution",
                                        "convolution", "neg"));
  made.expect_same_results({ramp({1, 3, 5, 6})});
}

TEST(FoldBatchNorms, FoldsNormIntoConvolution) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 3, 5, 5});
  Node* y = nn::conv2d(build, "conv", x, 4, {.padding = 1, .bias = false});
  y = nn::relu6(build, "act", nn::batch_norm2d(build, "norm", y));
  const OptimizedProgram made = optimized(build, {y});
  EXPECT_THAT(made.calls(), ElementsAre("convolution", "hardtanh"));
  made.expect_same_results({ramp({1, 3, 5, 5})});
}

TEST(FoldBatchNorms, KeepsNormIfConvolutionHasOtherUsers) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 3, 5, 5});
  Node* y = nn::conv2d(build, "conv", x, 4, {.padding = 1});
  const OptimizedProgram made = optimized(build, {nn::batch_norm2d(build, "norm", y), y});
  EXPECT_THAT(made.calls(), Contains("_native_batch_norm_legit_no_training"));
  made.expect_same_results({ramp({1, 3, 5, 5})});
}

// The program stores the transposed weight instead of the weight.
TEST(Folding, StoresTransposedWeights) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  const OptimizedProgram made = optimized(build, {nn::linear(build, "fc", x, 4)});
  EXPECT_THAT(made.calls(), ElementsAre("addmm"));
  EXPECT_EQ(made.program.state_dict.count("fc.weight"), 0U);
  EXPECT_EQ(made.program.constants.size(), 1U);
  made.expect_same_results({ramp({2, 3})});
}

}  // namespace
}  // namespace vitrine::aot
