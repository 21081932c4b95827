// Attention with llama::custom_sdpa must have the same results as the model's original form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "aot/graph/lint.h"
#include "aot/graph/pass.h"
#include "aot/passes/pipelines.h"
#include "aot/passes/replace_attention.h"
#include "aot/passes/spelled_attention.h"
#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/decoder_step.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kAttention = "aten.scaled_dot_product_attention.default";

struct AttentionCall {
  const char* name;
  std::vector<int64_t> query;
  std::vector<int64_t> key;
  ArgumentList rest = {};  // the arguments after query, key, value and mask
  ArgumentMap kwargs = {};
  TensorData mask = {};  // without sizes: no mask
};

std::vector<AttentionCall> replaceable() {
  const Values added = {0, 1, -1, 0.5, 0, -kInfinity, 2, 0, 0, 0, 0.25, 3};
  return {
      {"Plain", {2, 3, 4, 8}, {2, 3, 4, 8}},
      {"MoreKeys", {1, 2, 3, 8}, {1, 2, 5, 8}},
      {"Causal", {1, 2, 5, 8}, {1, 2, 5, 8}, {0.0, true}},
      {"CausalMoreKeys", {1, 2, 3, 8}, {1, 2, 5, 8}, {0.0, true}},
      {"Scaled", {1, 2, 3, 8}, {1, 2, 3, 8}, {}, {{"scale", 0.125}}},
      {"SharedHeads", {1, 6, 3, 8}, {1, 2, 3, 8}, {}, {{"enable_gqa", true}}},
      {"AdditiveMask", {2, 2, 3, 8}, {2, 2, 4, 8}, {}, {}, floats({3, 4}, added)},
      {"AdditiveMaskOfRank4", {2, 2, 3, 8}, {2, 2, 4, 8}, {}, {}, floats({1, 1, 3, 4}, added)},
      {"BoolMask", {1, 2, 2, 8}, {1, 2, 3, 8}, {}, {}, bools({2, 3}, {1, 0, 1, 0, 0, 1})},
  };
}

class ReplaceAttention : public testing::TestWithParam<AttentionCall> {};

TEST_P(ReplaceAttention, ReplacementHasSameResults) {
  const AttentionCall& test = GetParam();
  std::vector<TensorData> inputs = {seeded_weights("q", 1, test.query, 2),
                                    seeded_weights("k", 2, test.key, 2),
                                    seeded_weights("v", 3, test.key, 2)};
  const bool has_mask = !test.mask.sizes.empty();
  if (has_mask) inputs.push_back(test.mask);
  const auto attend = [&](ModelBuilder& build, const Nodes& in) {
    ArgumentList args(in.begin(), in.end());
    if (!has_mask) args.emplace_back();
    args.insert(args.end(), test.rest.begin(), test.rest.end());
    return build.call(kAttention, args, test.kwargs);
  };
  ExportedProgram own = program_of(inputs, attend);
  ExportedProgram replaced = own.copy();
  const AttentionResult result = replace_attention(replaced);
  lint(replaced);
  EXPECT_EQ(result.replaced, 1U);
  EXPECT_THAT(result.kept, IsEmpty());
  EXPECT_THAT(calls(replaced), testing::Contains("custom_sdpa"));
  to_edge(own);
  to_edge(replaced);
  expect_same_results(replaced, own, inputs);
}

INSTANTIATE_TEST_SUITE_P(Forms, ReplaceAttention, testing::ValuesIn(replaceable()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ReplaceAttentionReasons, KeepsUnsupportedAttention) {
  const auto kept = [](const std::vector<TensorData>& inputs, const ArgumentList& rest,
                       const char* text) {
    ExportedProgram program = program_of(inputs, one(kAttention, rest));
    const AttentionResult result = replace_attention(program);
    EXPECT_EQ(result.replaced, 0U);
    EXPECT_THAT(result.kept, ElementsAre(HasSubstr(text)));
    EXPECT_THAT(calls(program), ElementsAre("scaled_dot_product_attention"));
  };
  const TensorData x = zeros({1, 2, 3, 4});
  const TensorData fewer = zeros({1, 2, 2, 4});
  kept({zeros({2, 3, 4}), zeros({2, 3, 4}), zeros({2, 3, 4})}, {}, "must have 4 dims");
  kept({x, fewer, fewer}, {}, "at least as many keys as queries");
  kept({x, x, x}, {Argument(), 0.5}, "dropout_p must be 0");
  kept({x, x, x, zeros({1, 2, 3, 3})}, {}, "differs by head");
  kept({x, x, x, zeros({1, 3})}, {}, "must have a row per query");
}

// An AttentionChoice, and its expected decisions about the attention of 4 queries to 4 keys
// (few_keys) and to 16 keys (many_keys). True means that the attention is replaced.
struct ChosenCase {
  AttentionChoice choice;
  bool few_keys;
  bool many_keys;
};

class ReplaceAttentionIfFaster : public testing::TestWithParam<ChosenCase> {};

TEST_P(ReplaceAttentionIfFaster, ReplacementDependsOnSizes) {
  const auto is_replaced = [](int64_t queries, int64_t keys) {
    const TensorData query = zeros({1, 2, queries, 8});
    const TensorData key = zeros({1, 2, keys, 8});
    ExportedProgram program = program_of({query, key, key}, one(kAttention));
    const AttentionResult result = replace_attention(program, GetParam().choice);
    lint(program);
    if (result.replaced == 0) {
      EXPECT_THAT(result.kept, ElementsAre(HasSubstr("is not expected to be faster")));
      EXPECT_THAT(calls(program), ElementsAre("scaled_dot_product_attention"));
    }
    return result.replaced == 1;
  };
  EXPECT_EQ(is_replaced(4, 4), GetParam().few_keys);
  EXPECT_EQ(is_replaced(4, 16), GetParam().many_keys);
}

INSTANTIATE_TEST_SUITE_P(Choices, ReplaceAttentionIfFaster,
                         testing::Values(ChosenCase{AttentionChoice::kAll, true, true},
                                         ChosenCase{AttentionChoice::kIfFaster, true, true},
                                         ChosenCase{AttentionChoice::kIfFasterThanDelegated, false,
                                                    true}));

// For a query without visible keys, decomposed attention yields 0, but llama::custom_sdpa yields
// NaN.
TEST(ReplaceAttentionIfFasterReasons, KeepsAttentionIfMaskMayHideAllKeys) {
  const TensorData x = zeros({1, 2, 3, 8});
  const TensorData mask = bools({3, 3}, {1, 0, 1, 0, 0, 1, 0, 0, 0});
  ExportedProgram program = program_of({x, x, x, mask}, one(kAttention));
  const AttentionResult result = replace_attention(program, AttentionChoice::kIfFaster);
  EXPECT_EQ(result.replaced, 0U);
  EXPECT_THAT(result.kept, ElementsAre(HasSubstr("its mask may hide all keys of a query")));
}

// Attention as two matrix products: softmax(query x key^T * 3 / 2) x value. `product` is the second
// product.
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
  expect_same_results(
      program, own,
      {seeded_weights("q", 1, {1, 2, 3, 4}, 2), seeded_weights("k", 2, {1, 2, 5, 4}, 2),
       seeded_weights("v", 3, {1, 2, 5, 4}, 2)});
}

// The attention call takes the place of the second product. If a buffer is written between the
// products, the call would read query and key after the write.
TEST(SpelledOutAttention, RejectsWrongSoftmaxDimAndWritesBetweenProducts) {
  for (const bool writes : {false, true}) {
    SpelledProduct spelled;
    ExportedProgram program = spelled.program(writes ? -1 : 2, writes);
    EXPECT_EQ(match_spelled_attention(program, *spelled.product), nullptr) << writes;
  }
}

// The mask contains the lowest float, not -inf. For a query without visible keys, the model
// therefore returns the mean of all values.
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
    Node* visible =
        build.call("aten.full.default", {Dims{3, 5}, true}, {{"dtype", ScalarType::kBool}});
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
