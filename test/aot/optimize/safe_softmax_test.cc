// Tests the removal of the part of a softmax that handles rows without a finite value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/aot/optimize/lowered_call.h"
#include "test/aot/optimize/optimized_program.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::Not;

constexpr double kInf = kInfinity;

// Adds softmax(scores) with zeros for rows that are completely -inf, as in torch's decomposition of
// attention.
Node* safe_softmax(ModelBuilder& build, Node* scores) {
  Node* softmax = build.call("aten.softmax.int", {scores, -1});
  Node* masked = build.call("aten.eq.Scalar", {scores, -kInf});
  Node* any =
      build.call("aten.any.dim", {build.call("aten.logical_not.default", {masked}), -1, true});
  Node* none = build.call("aten.logical_not.default", {any});
  Node* zeros = build.call("aten.full_like.default", {softmax, 0});
  return build.call("aten.where.self", {none, zeros, softmax});
}

Node* scores(ModelBuilder& build) {
  Node* q = build.input("q", ScalarType::kFloat, {2, 3, 4});
  Node* k = build.input("k", ScalarType::kFloat, {2, 4, 3});
  return build.call("aten.bmm.default", {q, k});
}

const std::vector<TensorData>& operands() {
  static const std::vector<TensorData> made = [] {
    Values values;
    for (int i = 0; i < 24; ++i) values.push_back(0.125 * (i % 7) - 0.3);
    return std::vector<TensorData>{floats({2, 3, 4}, values), floats({2, 4, 3}, values)};
  }();
  return made;
}

void expect_safe(const OptimizedProgram& made, bool is_safe) {
  if (is_safe) {
    EXPECT_THAT(made.calls(), Contains("where.self"));
    EXPECT_THAT(made.calls(), Contains("any.dim"));
  } else {
    EXPECT_THAT(made.calls(), Not(Contains("any.dim")));
    EXPECT_THAT(made.calls(), Contains("_softmax"));
  }
}

TEST(RemoveSafeSoftmax, SimplifiesSoftmaxOfUnmaskedScores) {
  ModelBuilder build("Net");
  const OptimizedProgram made = optimized(build, {safe_softmax(build, scores(build))});
  expect_safe(made, false);
  made.expect_same_results(operands());
}

OptimizedProgram with_added_mask(const Values& mask) {
  ModelBuilder build("Net");
  Node* given = build.buffer("mask", floats({3, 3}, mask));
  Node* sum = build.call("aten.add.Tensor", {scores(build), given});
  return optimized(build, {safe_softmax(build, sum)});
}

TEST(RemoveSafeSoftmax, SimplifiesIfMaskLeavesAValueInEachRow) {
  const OptimizedProgram made = with_added_mask({0, -kInf, -kInf, 0, 0, -kInf, 0, 0, 0});
  expect_safe(made, false);
  made.expect_same_results(operands());
}

TEST(RemoveSafeSoftmax, KeepsSafeFormIfMaskCoversARow) {
  const OptimizedProgram made = with_added_mask({0, -kInf, -kInf, -kInf, -kInf, -kInf, 0, 0, 0});
  expect_safe(made, true);
  made.expect_same_results(operands());
}

// With one mask, every row still has a visible value. The two masks together hide all values.
TEST(RemoveSafeSoftmax, KeepsSafeFormIfTwoMasksTogetherCoverARow) {
  ModelBuilder build("Net");
  Node* a = build.buffer("a", floats({1, 3}, {0, -kInf, -kInf}));
  Node* b = build.buffer("b", floats({1, 3}, {-kInf, 0, 0}));
  Node* sum = build.call("aten.add.Tensor", {scores(build), a});
  sum = build.call("aten.add.Tensor", {sum, b});
  const OptimizedProgram made = optimized(build, {safe_softmax(build, sum)});
  expect_safe(made, true);
  made.expect_same_results(operands());
}

TEST(RemoveSafeSoftmax, KeepsSafeFormIfMaskIsAnInput) {
  ModelBuilder build("Net");
  Node* sum = scores(build);
  Node* mask = build.input("mask", ScalarType::kFloat, {3, 3});
  sum = build.call("aten.add.Tensor", {sum, mask});
  const OptimizedProgram made = optimized(build, {safe_softmax(build, sum)});
  expect_safe(made, true);
  std::vector<TensorData> inputs = operands();
  inputs.push_back(floats({3, 3}, {0, 0, -kInf, -kInf, -kInf, -kInf, 0, 0, 0}));
  made.expect_same_results(inputs);
}

TEST(RemoveSafeSoftmax, KeepsSafeFormIfScoresAreAnInput) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  const OptimizedProgram made = optimized(build, {safe_softmax(build, x)});
  expect_safe(made, true);
  made.expect_same_results({floats({2, 3}, {1, 2, 3, -kInf, -kInf, -kInf})});
}

// The decomposition of scaled_dot_product_attention(is_causal=True).
TEST(RemoveSafeSoftmax, SimplifiesSoftmaxOfCausalAttention) {
  ModelBuilder build("Net");
  Node* ones = build.call("aten.full.default", {std::vector<int64_t>{3, 3}, true},
                          {{"dtype", ScalarType::kBool}});
  Node* keep = build.call("aten.tril.default", {ones});
  Node* all = scores(build);
  Node* minus = build.call("aten.full_like.default", {all, -kInf});
  Node* chosen = build.call("aten.where.self", {keep, all, minus});
  const OptimizedProgram made = optimized(build, {safe_softmax(build, chosen)});
  expect_safe(made, false);
  made.expect_same_results(operands());
}

}  // namespace
}  // namespace vitrine::aot
