// Tests the optimization that removes the special treatment of rows of -inf from a softmax.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/aot/optimize/lowered_call.h"
#include "test/aot/optimize/optimized_program.h"
#include "test/aot/passes/lowered_program.h"

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

// Optimizes safe_softmax(scores) and expects the same results as before. Expects that the zeros for
// rows of -inf are kept if and only if `is_safe` is true.
void expect_softmax(ModelBuilder& build, Node* scores, bool is_safe,
                    const std::vector<TensorData>& inputs = operands()) {
  const OptimizedProgram made = optimized(build, {safe_softmax(build, scores)});
  made.expect_same_results(inputs);
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
  expect_softmax(build, scores(build), false);
}

void expect_with_added_mask(const Values& mask, bool is_safe) {
  ModelBuilder build("Net");
  Node* given = build.buffer("mask", floats({3, 3}, mask));
  expect_softmax(build, build.call("aten.add.Tensor", {scores(build), given}), is_safe);
}

TEST(RemoveSafeSoftmax, SimplifiesIfMaskLeavesAValueInEachRow) {
  expect_with_added_mask({0, -kInf, -kInf, 0, 0, -kInf, 0, 0, 0}, false);
}

TEST(RemoveSafeSoftmax, KeepsSafeFormIfMaskCoversARow) {
  expect_with_added_mask({0, -kInf, -kInf, -kInf, -kInf, -kInf, 0, 0, 0}, true);
}

// With one mask, every row still has a visible value. The two masks together hide all values.
TEST(RemoveSafeSoftmax, KeepsSafeFormIfTwoMasksTogetherCoverARow) {
  ModelBuilder build("Net");
  Node* a = build.buffer("a", floats({1, 3}, {0, -kInf, -kInf}));
  Node* b = build.buffer("b", floats({1, 3}, {-kInf, 0, 0}));
  Node* sum = build.call("aten.add.Tensor", {scores(build), a});
  expect_softmax(build, build.call("aten.add.Tensor", {sum, b}), true);
}

TEST(RemoveSafeSoftmax, KeepsSafeFormIfMaskIsAnInput) {
  ModelBuilder build("Net");
  Node* all = scores(build);
  Node* mask = build.input("mask", ScalarType::kFloat, {3, 3});
  std::vector<TensorData> inputs = operands();
  inputs.push_back(floats({3, 3}, {0, 0, -kInf, -kInf, -kInf, -kInf, 0, 0, 0}));
  expect_softmax(build, build.call("aten.add.Tensor", {all, mask}), true, inputs);
}

TEST(RemoveSafeSoftmax, KeepsSafeFormIfScoresAreAnInput) {
  Net build({2, 3});
  expect_softmax(build, build.x, true, {floats({2, 3}, {1, 2, 3, -kInf, -kInf, -kInf})});
}

// Builds the mask like the decomposition of scaled_dot_product_attention(is_causal=True).
TEST(RemoveSafeSoftmax, SimplifiesSoftmaxOfCausalAttention) {
  ModelBuilder build("Net");
  Node* ones = build.call("aten.full.default", {Dims{3, 3}, true}, {{"dtype", ScalarType::kBool}});
  Node* keep = build.call("aten.tril.default", {ones});
  Node* all = scores(build);
  Node* minus = build.call("aten.full_like.default", {all, -kInf});
  expect_softmax(build, build.call("aten.where.self", {keep, all, minus}), false);
}

}  // namespace
}  // namespace vitrine::aot
