// Tests trace_rows(), which finds the tensors from which attention reads keys and values. Also
// tests the predicted cost of attention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "aot/passes/attention_cost.h"
#include "aot/passes/attention_rows.h"
#include "aot/passes/replace_attention.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

struct CostCase {
  const char* name;
  AttentionShape shape;
  bool is_faster;
};

const SymInt kShortSize(Expression::symbol("short"));    // 1 to 32
const SymInt kLongSize(Expression::symbol("long"));      // 128 to 512
const SymInt kAnySize(Expression::symbol("unbounded"));  // 1 or more

std::vector<CostCase> cost_cases() {
  return {
      {"SmallKernels", {.queries = 32, .keys = 32}, true},
      {"LargeKernels", {.queries = 33, .keys = 33}, false},
      {"SmallDelegated", {.queries = 6, .keys = 6, .is_delegated = true}, false},
      {"FourKeysPerQuery", {.queries = 64, .keys = 256, .is_delegated = true}, true},
      {"FewerKeysPerQuery", {.queries = 64, .keys = 255, .is_delegated = true}, false},
      {"Token", {.queries = 1, .keys = 4, .is_delegated = true}, true},
      {"LongCausal", {.queries = 128, .keys = 128, .is_causal = true}, true},
      {"ShortCausal", {.queries = 127, .keys = 127, .is_causal = true}, false},
      {"PartOfCache", {.queries = kAnySize, .keys = 256, .reads_part_of_cache = true}, true},
      {"BoundedKernels", {.queries = kShortSize, .keys = kShortSize}, true},
      {"BoundedKeys", {.queries = kShortSize, .keys = kLongSize, .is_delegated = true}, true},
      {"BoundedFewerKeys",
       {.queries = kShortSize, .keys = kShortSize, .is_delegated = true},
       false},
      {"BoundedCausal", {.queries = kLongSize, .keys = kLongSize, .is_causal = true}, true},
      {"UnknownCausal", {.queries = kAnySize, .keys = kAnySize, .is_causal = true}, false},
      {"UnknownQueries", {.queries = kAnySize, .keys = 1 << 20}, false},
  };
}

class AttentionCost : public testing::TestWithParam<CostCase> {};

TEST_P(AttentionCost, PredictsWhetherASingleAttentionOperatorIsFaster) {
  const RangeConstraints ranges = {
      {"short", {1, 32}}, {"long", {128, 512}}, {"unbounded", {1, std::nullopt}}};
  EXPECT_EQ(is_faster_as_operator(GetParam().shape, ranges), GetParam().is_faster);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionCost, testing::ValuesIn(cost_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

using Sizes4 = std::vector<int64_t>;

TEST(AttentionRows, TracesRowsThroughViewsAndCopies) {
  ModelBuilder build("Net");
  Node* cache = build.buffer("cache", zeros({1, 6, 2, 4}));  // positions first
  Node* transposed = build.call("aten.transpose.int", {cache, 1, 2});
  Node* first = build.call("aten.narrow.default", {transposed, 2, 0, 3});
  Node* copy = build.call("aten.clone.default", {first});
  const AttentionRows rows = trace_rows(copy);
  EXPECT_EQ(rows.source, cache);
  EXPECT_EQ(rows.first_reader, transposed);
  EXPECT_EQ(rows.prefix, first);
  EXPECT_TRUE(rows.is_transposed);
  EXPECT_FALSE(rows.is_repeated);
}

TEST(AttentionRows, TracesHeadsRepeatedByInterleaveOrExpand) {
  ModelBuilder build("Net");
  Node* cache = build.buffer("cache", zeros({1, 2, 6, 4}));
  Node* interleaved = build.call("aten.repeat_interleave.self_int", {cache, 2, 1});
  Node* single = build.call("aten.unsqueeze.default", {cache, 2});
  Node* expanded = build.call("aten.expand.default", {single, Sizes4{1, 2, 2, 6, 4}});
  Node* reshaped = build.call("aten.reshape.default", {expanded, Sizes4{1, 4, 6, 4}});
  for (Node* node : {interleaved, reshaped}) {
    const AttentionRows rows = trace_rows(node);
    EXPECT_EQ(rows.source, cache);
    EXPECT_TRUE(rows.is_repeated);
  }
}

// trace_rows() must not trace a cache through calls that repeat positions, transpose other dims,
// select rows from the middle, or compute new values.
TEST(AttentionRows, TraceStopsAtUnsupportedCalls) {
  ModelBuilder build("Net");
  Node* cache = build.buffer("cache", zeros({1, 2, 6, 4}));
  for (Node* node : {build.call("aten.repeat_interleave.self_int", {cache, 2, 2}),
                     build.call("aten.transpose.int", {cache, 2, 3}),
                     build.call("aten.narrow.default", {cache, 2, 1, 3}),
                     build.call("aten.neg.default", {cache})}) {
    const AttentionRows rows = trace_rows(node);
    EXPECT_EQ(rows.source, node);
    EXPECT_EQ(rows.first_reader, nullptr);
  }
}

ExportedProgram repeating(bool writes) {
  ModelBuilder build("Net");
  Node* query = build.input("q", ScalarType::kFloat, {1, 4, 3, 8});
  Node* cache = build.buffer("cache", zeros({1, 2, 3, 8}));
  Node* key = build.call("aten.repeat_interleave.self_int", {cache, 2, 1});
  Node* value = build.call("aten.repeat_interleave.self_int", {cache, 2, 1});
  if (writes) build.call("aten.add_.Tensor", {cache, cache});
  return build.finish(
      {build.call("aten.scaled_dot_product_attention.default", {query, key, value})});
}

TEST(AttentionRows, ReplacementRemovesTheRepetitionOfHeads) {
  ExportedProgram program = repeating(false);
  EXPECT_EQ(replace_attention(program).replaced, 1U);
  program.graph->remove_dead_code();
  EXPECT_THAT(calls(program),
              ElementsAre("permute", "permute", "permute", "custom_sdpa", "permute", "clone"));
}

TEST(AttentionRows, ReplacementKeepsTheRepetitionOfHeadsBeforeAWrite) {
  ExportedProgram program = repeating(true);
  EXPECT_EQ(replace_attention(program).replaced, 1U);
  program.graph->remove_dead_code();
  EXPECT_EQ(std::ranges::count(calls(program), "repeat_interleave.self_int"), 2);
}

}  // namespace
}  // namespace vitrine::aot
