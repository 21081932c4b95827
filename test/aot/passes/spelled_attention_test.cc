#include "aot/passes/spelled_attention.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "aot/graph/lint.h"
#include "aot/graph/pass.h"
#include "aot/passes/pipelines.h"
#include "aot/passes/replace_attention.h"
#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/decoder_step.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

// softmax(query x key^T * 3 / 2) x value. `product` is the last call.
struct SpelledProduct {
  ModelBuilder build{"Net"};
  Node* query = build.input("query", ScalarType::kFloat, {1, 2, 3, 4});
  Node* key = build.input("key", ScalarType::kFloat, {1, 2, 5, 4});
  Node* value = build.input("value", ScalarType::kFloat, {1, 2, 5, 4});
  Node* product = nullptr;

  ExportedProgram program(int64_t softmax_dim = -1, bool writes = false) {
    Node* transposed = build.call("aten.transpose.int", {key, -2, -1});
    Node* scores = build.call("aten.matmul.default", {query, transposed});
    scores = build.call("aten.mul.Tensor", {scores, 3.0});
    scores = build.call("aten.div.Tensor", {scores, 2.0});
    Node* weights = build.call("aten.softmax.int", {scores, softmax_dim});
    if (writes) build.call("aten.neg_.default", {build.buffer("state", zeros({2}))});
    product = build.call("aten.matmul.default", {weights, value});
    return build.finish({product});
  }
};

TEST(SpelledOutAttention, BecomesAnAttentionCallWithTheSameOperands) {
  SpelledProduct spelled;
  ExportedProgram program = spelled.program();
  ExportedProgram own = program.copy();
  Node* made = match_spelled_attention(program, *spelled.product);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->args(), (ArgumentList{spelled.query, spelled.key, spelled.value}));
  ASSERT_NE(made->kwarg("scale"), nullptr);
  EXPECT_EQ(*made->kwarg("scale"), Argument(3.0 / 2.0));
  replace_node(program, *spelled.product, *made);
  to_edge(own);
  to_edge(program);
  const std::vector<TensorData> inputs = {seeded_weights("q", 1, {1, 2, 3, 4}, 2),
                                          seeded_weights("k", 2, {1, 2, 5, 4}, 2),
                                          seeded_weights("v", 3, {1, 2, 5, 4}, 2)};
  expect_near(evaluate(program, inputs)[0], values_of(evaluate(own, inputs)[0]));
}

TEST(SpelledOutAttention, RejectsSoftmaxOverTheWrongDim) {
  SpelledProduct spelled;
  ExportedProgram program = spelled.program(2);
  EXPECT_EQ(match_spelled_attention(program, *spelled.product), nullptr);
}

// A buffer is written between the two products. An attention call in place of the last product
// would read query and key after this write.
TEST(SpelledOutAttention, RejectsBufferWritesBetweenTheTwoProducts) {
  SpelledProduct spelled;
  ExportedProgram program = spelled.program(-1, true);
  EXPECT_EQ(match_spelled_attention(program, *spelled.product), nullptr);
}

// If a mask contains the lowest float instead of -inf, attention yields the mean of all values for
// a query without visible keys.
TEST(SpelledOutAttention, IsKeptIfMaskMayHideAllKeys) {
  const StepForm form = {
      .name = "", .mask = StepMask::kWindow, .is_spelled = true, .fill = kLowestFloat};
  ExportedProgram program = DecoderStep(form).build();
  const AttentionResult result = replace_attention(program);
  EXPECT_EQ(result.replaced, 0U);
  EXPECT_EQ(result.writes, 2U);
  EXPECT_EQ(std::ranges::count(calls(program), "matmul"), 2);
  lint(program);
}

// tril(diagonal=-1) hides all keys of the first query.
TEST(SpelledOutAttention, IsKeptIfCausalMaskHidesTheFirstKey) {
  const auto is_found = [](int64_t diagonal) {
    SpelledProduct spelled;
    ModelBuilder& build = spelled.build;
    Node* visible = build.call("aten.full.default", {std::vector<int64_t>{3, 5}, true},
                               {{"dtype", ScalarType::kBool}});
    visible = build.call("aten.tril.default", {visible, diagonal});
    Node* hidden = build.call("aten.logical_not.default", {visible});
    Node* transposed = build.call("aten.transpose.int", {spelled.key, -2, -1});
    Node* scores = build.call("aten.matmul.default", {spelled.query, transposed});
    scores = build.call("aten.masked_fill.Scalar", {scores, hidden, kLowestFloat});
    Node* weights = build.call("aten.softmax.int", {scores, -1});
    Node* product = build.call("aten.matmul.default", {weights, spelled.value});
    ExportedProgram program = build.finish({product});
    return match_spelled_attention(program, *product) != nullptr;
  };
  EXPECT_FALSE(is_found(-1));
  EXPECT_TRUE(is_found(0));
  EXPECT_TRUE(is_found(2));
}

}  // namespace
}  // namespace vitrine::aot
