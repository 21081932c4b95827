#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/models/layers.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/optimize/optimized_program.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::AllOf;
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

// Expects that the calls of the optimized program match `calls`, and that its results equal those
// of the original program within the tolerance of expect_near(). Each input is a ramp of floats, or
// contains positive and negative integers. All input sizes must be static.
void expect_optimized(ModelBuilder& build, const std::vector<Node*>& results,
                      const testing::Matcher<const std::vector<std::string>&>& calls,
                      bool for_backends = false) {
  const OptimizedProgram made = optimized(build, results, for_backends);
  EXPECT_THAT(made.calls(), calls);
  std::vector<TensorData> inputs;
  for (const InputSpec& input : made.stock.signature.inputs) {
    if (input.kind != InputSpec::Kind::kUserInput) continue;
    const TensorSpec& spec = *made.stock.graph->find(input.name)->tensor();
    std::vector<int64_t> sizes;
    for (const SymInt& size : spec.sizes) sizes.push_back(size.value());
    const bool is_float = spec.dtype == ScalarType::kFloat;
    inputs.push_back(is_float ? ramp(sizes) : integers(sizes, {1, -2, 3}));
  }
  made.expect_same_results(inputs);
}

TEST(CopiesToViews, ReplacesCopiesThatKeepElementOrder) {
  Net build({2, 1, 3});
  Node* y = build.call("aten.neg.default", {build.x});
  y = build.call("aten.squeeze.dim", {y, 1});
  y = build.call("aten.unsqueeze.default", {y, 0});
  y = build.call("aten.permute.default", {y, Dims{1, 0, 2}});
  y = build.call("aten.expand.default", {y, Dims{2, 1, 3}});
  expect_optimized(build, {build.call("aten.abs.default", {y})}, ElementsAre("neg", "abs"));
}

TEST(CopiesToViews, KeepsCopiesThatChangeElementOrder) {
  Net build({2, 1, 3});
  Node* y = build.call("aten.permute.default", {build.x, Dims{2, 1, 0}});
  y = build.call("aten.expand.default", {y, Dims{3, 4, 2}});
  expect_optimized(build, {build.call("aten.abs.default", {y})},
                   ElementsAre("permute_copy", "expand_copy", "abs"));
}

// Without the copy, the result could be a view of the input. The caller may change the input before
// it reads the result.
TEST(CopiesToViews, KeepsCopiesForResults) {
  Net build({4});
  Node* y = build.call("aten.neg.default", {build.x});
  Node* copy = build.call("aten.clone.default", {build.x});
  Node* same = build.call("aten.clone.default", {y});
  expect_optimized(build, {copy, y, same},
                   ElementsAre("neg", "_clone_dim_order", "_clone_dim_order"));
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
  Net build({2, 3, 4});
  Node* y = build.call("aten.permute.default", {build.x, Dims{1, 2, 0}});
  y = build.call("aten.abs.default", {build.call("aten.transpose.int", {y, 0, -1})});
  expect_optimized(build, {y}, ElementsAre("permute_copy", "abs"));
}

TEST(ComposePermutations, RemovesPermutationsThatCancel) {
  Net build({2, 3, 4});
  Node* y = build.call("aten.permute.default", {build.x, Dims{1, 2, 0}});
  y = build.call("aten.permute.default", {y, Dims{2, 0, 1}});
  expect_optimized(build, {build.call("aten.abs.default", {y})}, ElementsAre("abs"));
}

TEST(RemoveExpansions, RemovesExpansionsBeforeBroadcastingCalls) {
  Net build({2, 3});
  Node* row = build.input("row", ScalarType::kFloat, {3});
  Node* column = build.input("column", ScalarType::kFloat, {2, 1});
  const std::vector<int64_t> sizes{2, 3};
  Node* y =
      build.call("aten.mul.Tensor", {build.call("aten.expand.default", {row, sizes}), build.x});
  y = build.call("aten.sub.Tensor", {y, build.call("aten.expand.default", {column, sizes})});
  expect_optimized(build, {y}, ElementsAre("mul.Tensor", "sub.Tensor"));
}

// Without the expand call, the result would have another size.
TEST(RemoveExpansions, KeepsExpansionThatDeterminesResultSize) {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {3});
  Node* column = build.input("column", ScalarType::kFloat, {2, 1});
  Node* expanded = build.call("aten.expand.default", {row, Dims{5, 2, 3}});
  expect_optimized(build, {build.call("aten.add.Tensor", {expanded, column})},
                   ElementsAre("expand_copy", "add.Tensor"));
}

TEST(RemoveNeutralCalls, RemovesNeutralCalls) {
  Net build({3});
  Node* y = build.call("aten.mul.Tensor", {build.x, 1});
  y = build.call("aten.add.Tensor", {y, -0.0});
  y = build.call("aten.sub.Tensor", {y, 0.0});
  y = build.call("aten.div.Tensor", {y, 1.0});
  expect_optimized(build, {build.call("aten.abs.default", {y})}, ElementsAre("abs"));
}

// The calls 0 - x and 1 / x do not return x. Dividing an integer by 1 converts it to float.
TEST(RemoveNeutralCalls, KeepsCallsThatAreNotNeutral) {
  Net build({3});
  Node* n = build.input("n", ScalarType::kLong, {3});
  Node* zero = build.buffer("zero", floats({1}, {0}));
  Node* one = build.buffer("one", floats({1}, {1}));
  expect_optimized(
      build,
      {build.call("aten.sub.Tensor", {zero, build.x}),
       build.call("aten.div.Tensor", {one, build.x}), build.call("aten.div.Tensor", {n, 1})},
      AllOf(Contains("sub.Tensor"), Contains("div.Tensor"), Contains("_to_dim_order_copy")));
}

// The calls turn -0.0 into 0.0. The reciprocal makes the sign visible: it is infinity for 0.0 and
// -infinity for -0.0.
TEST(RemoveNeutralCalls, KeepsCallsThatChangeSignOfZero) {
  Net build({1});
  const auto reciprocal = [&](const char* target, ArgumentList args, ArgumentMap kwargs = {}) {
    Node* y = build.call(target, std::move(args), std::move(kwargs));
    return build.call("aten.reciprocal.default", {y});
  };
  const OptimizedProgram made =
      optimized(build, {reciprocal("aten.add.Tensor", {build.x, 0.0}),
                        reciprocal("aten.sub.Tensor", {build.x, -0.0}),
                        reciprocal("aten.add.Tensor", {build.x, -0.0}, {{"alpha", -1}})});
  const std::vector<TensorData> inputs = {floats({1}, {-0.0})};
  const std::vector<TensorData> found = evaluate(made.program, inputs);
  for (const TensorData& result : found) EXPECT_EQ(values_of(result), Values{kInfinity});
}

TEST(RemoveNeutralCalls, RemovesLosslessConversions) {
  const auto converted = [](ScalarType through) {
    Net build({3});
    Node* y = build.call("aten.to.dtype", {build.x, through});
    y = build.call("aten.to.dtype", {y, ScalarType::kFloat});
    const OptimizedProgram made = optimized(build, {build.call("aten.abs.default", {y})});
    made.expect_same_results({ramp({3})});
    return made.calls().size();
  };
  EXPECT_EQ(converted(ScalarType::kDouble), 1U);
  EXPECT_EQ(converted(ScalarType::kInt), 3U);
}

TEST(ShareResults, RemovesRepeatedCalls) {
  Net build({2, 3});
  Node* a = build.call("aten.exp.default", {build.x});
  Node* b = build.call("aten.exp.default", {build.x});
  Node* c = build.call("aten.sum.dim_IntList", {build.x, Dims{0}});
  Node* d = build.call("aten.sum.dim_IntList", {build.x, Dims{1}});
  expect_optimized(build, {build.call("aten.add.Tensor", {a, b}), c, d},
                   AllOf(Contains("exp").Times(1), Contains("sum.dim_IntList").Times(2)));
}

TEST(ShareResults, TreatsPositiveAndNegativeZeroAsDifferent) {
  Net build({1});
  const auto reciprocal_of = [&](double zero) {
    return build.call("aten.reciprocal.default",
                      {build.call("aten.full_like.default", {build.x, zero})});
  };
  const OptimizedProgram made = optimized(build, {reciprocal_of(0.0), reciprocal_of(-0.0)});
  const std::vector<TensorData> inputs = {floats({1}, {1})};
  const std::vector<TensorData> found = evaluate(made.program, inputs);
  EXPECT_EQ(values_of(found[0]), Values{kInfinity});
  EXPECT_EQ(values_of(found[1]), Values{-kInfinity});
}

// A program may write to an uninitialized tensor, so each call must return a separate tensor.
TEST(ShareResults, KeepsUninitializedTensors) {
  Net build({2, 3});
  const OptimizedProgram made =
      optimized(build, {build.call("aten.empty_like.default", {build.x}),
                        build.call("aten.empty_like.default", {build.x})});
  EXPECT_THAT(made.calls(), Contains(testing::HasSubstr("empty")).Times(2));
}

TEST(MergeScales, MovesBothScalesToOneOperand) {
  ModelBuilder build("Net");
  Node* q = build.input("q", ScalarType::kFloat, {2, 3, 4});
  Node* k = build.input("k", ScalarType::kFloat, {2, 5, 4});
  Node* left = build.call("aten.mul.Scalar", {q, 0.5});
  Node* right = build.call("aten.mul.Scalar", {build.call("aten.transpose.int", {k, 1, 2}), 0.25});
  expect_optimized(build, {build.call("aten.bmm.default", {left, right})},
                   Contains("mul.Scalar").Times(1));
}

// A merged scale is the product of both scales. In f32, this product, or an operand multiplied by
// it, could become infinite or 0.
TEST(MergeScales, KeepsScalesIfAProductCouldOverflowOrUnderflow) {
  struct Scales {
    double left, right, x, y;  // their product is always 4
  };
  for (const Scales& scales : {Scales{1e30, 1e30, 2e-30, 2e-30}, Scales{1e-30, 1e-30, 2e30, 2e30},
                               Scales{1e19, 1e19, 2e-19, 2e-19}, Scales{1e19, 1e18, 1e2, 4e-39}}) {
    Net build({1, 1, 1});
    Node* y = build.input("y", ScalarType::kFloat, {1, 1, 1});
    Node* left = build.call("aten.mul.Scalar", {build.x, scales.left});
    Node* right = build.call("aten.mul.Scalar", {y, scales.right});
    const OptimizedProgram made = optimized(build, {build.call("aten.bmm.default", {left, right})});
    EXPECT_THAT(made.calls(), Contains("mul.Scalar").Times(2));
    const std::vector<TensorData> inputs = {floats({1, 1, 1}, {scales.x}),
                                            floats({1, 1, 1}, {scales.y})};
    expect_near(evaluate(made.program, inputs)[0], {4});
  }
}

// The call abs also uses the result of the multiplication `right`, so `right` must not be removed.
TEST(MergeScales, KeepsScalesWhoseResultHasAnotherUser) {
  ModelBuilder build("Net");
  Node* q = build.input("q", ScalarType::kFloat, {2, 3, 3});
  Node* left = build.call("aten.mul.Scalar", {q, 0.5});
  Node* right = build.call("aten.mul.Scalar", {q, 0.25});
  Node* product = build.call("aten.bmm.default", {left, right});
  expect_optimized(build, {product, build.call("aten.abs.default", {right})},
                   Contains("mul.Scalar").Times(2));
}

TEST(RewriteForBackends, ReplacesSelectCallsAndScalarFactors) {
  Net build({3, 4, 2});
  Node* first = build.call("aten.select.int", {build.x, 0, 1});
  Node* last = build.call("aten.select.int", {build.x, 1, -1});
  last = build.call("aten.mul.Scalar", {last, 0.5});
  expect_optimized(build, {build.call("aten.abs.default", {first}), last},
                   AllOf(Not(Contains("select_copy.int")), Not(Contains("mul.Scalar")),
                         Contains("slice_copy.Tensor").Times(2)),
                   true);
}

TEST(RewriteForBackends, ReplacesSplitWithSlices) {
  Net build({2, 6});
  const auto part = [](int64_t size) {
    return Value(contiguous_spec(ScalarType::kFloat, {2, size}));
  };
  Node* parts = build.call_as("aten.split_with_sizes.default", {build.x, Dims{1, 2, 3}, -1}, {},
                              Value(Value::Items{part(1), part(2), part(3)}));
  Node* sum = build.call("aten.mul.Tensor", {build.item(parts, 0), build.item(parts, 2)});
  expect_optimized(
      build, {sum, build.item(parts, 1)},
      AllOf(Not(Contains("split_with_sizes_copy")), Contains("slice_copy.Tensor").Times(3)), true);
}

// The integer factor stays an integer, because a float cannot represent all integers.
TEST(RewriteForBackends, KeepsScalarFactorsOfIntegerTensors) {
  Net build({3}, ScalarType::kLong);
  expect_optimized(build, {build.call("aten.mul.Scalar", {build.x, 2})}, ElementsAre("mul.Scalar"),
                   true);
}

Node* padded(ModelBuilder& build, Node* x, std::vector<int64_t> pad, double value = 0) {
  return build.call("aten.constant_pad_nd.default", {x, pad, value});
}

TEST(FoldPads, FoldsPadsIntoAllConvolutions) {
  Net build({1, 3, 5, 6});
  Node* y = padded(build, build.x, {1, 1, 2, 2});
  expect_optimized(build,
                   {nn::conv2d(build, "a", y, 4, {.padding = 1}),
                    nn::conv2d(build, "b", y, 2, {.kernel = 5, .stride = 2})},
                   ElementsAre("convolution", "convolution"));
}

TEST(FoldPads, KeepsPadsThatConvolutionsCannotExpress) {
  const std::vector<int64_t> kPads[] = {{0, 1, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 1, 1, 1}, {-1, -1}};
  for (const std::vector<int64_t>& pad : kPads) {
    Net build({1, 3, 5, 6});
    Node* y = nn::conv2d(build, "conv", padded(build, build.x, pad), 4, {.padding = 1});
    expect_optimized(build, {y}, ElementsAre("constant_pad_nd", "convolution"));
  }
}

TEST(FoldPads, KeepsNonzeroPadsAndPadsWithOtherUsers) {
  Net build({1, 3, 5, 6});
  Node* ones = padded(build, build.x, {1, 1, 1, 1}, 1);
  Node* zeros = padded(build, build.x, {1, 1, 1, 1});
  expect_optimized(
      build,
      {nn::conv2d(build, "a", ones, 4, {}), nn::conv2d(build, "b", zeros, 4, {}),
       build.call("aten.neg.default", {zeros})},
      ElementsAre("constant_pad_nd", "constant_pad_nd", "convolution", "convolution", "neg"));
}

TEST(FoldBatchNorms, FoldsNormIntoConvolution) {
  Net build({1, 3, 5, 5});
  Node* y = nn::conv2d(build, "conv", build.x, 4, {.padding = 1, .bias = false});
  y = nn::relu6(build, "act", nn::batch_norm2d(build, "norm", y));
  expect_optimized(build, {y}, ElementsAre("convolution", "hardtanh"));
}

TEST(FoldBatchNorms, KeepsNormIfConvolutionHasOtherUsers) {
  Net build({1, 3, 5, 5});
  Node* y = nn::conv2d(build, "conv", build.x, 4, {.padding = 1});
  expect_optimized(build, {nn::batch_norm2d(build, "norm", y), y},
                   Contains("_native_batch_norm_legit_no_training"));
}

// The program stores the transposed weight instead of the weight.
TEST(Folding, StoresTransposedWeights) {
  Net build({2, 3});
  const OptimizedProgram made = optimized(build, {nn::linear(build, "fc", build.x, 4)});
  EXPECT_THAT(made.calls(), ElementsAre("addmm"));
  EXPECT_EQ(made.program.state_dict.count("fc.weight"), 0U);
  EXPECT_EQ(made.program.constants.size(), 1U);
  made.expect_same_results({ramp({2, 3})});
}

}  // namespace
}  // namespace vitrine::aot
