#include "aot/passes/index_values.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "examples/models/model_builder.h"

namespace vitrine::aot {
namespace {

// The mask is key <= position + query.
TEST(IndexValues, RecognizesCausalMask) {
  ModelBuilder build("Mask");
  Node* position = build.input("position", ScalarType::kLong, {1});
  Node* keys = build.call("aten.arange.default", {8}, {{"dtype", ScalarType::kLong}});
  Node* queries = build.call("aten.arange.default", {3}, {{"dtype", ScalarType::kLong}});
  Node* rows =
      build.call("aten.unsqueeze.default", {build.call("aten.add.Tensor", {queries, position}), 1});
  Node* mask = build.call("aten.le.Tensor", {keys, rows});
  const ExportedProgram program = build.finish({mask});
  const std::optional<LinearSum> start = IndexValues(program).causal_from(mask);
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->constant, 0);
  EXPECT_EQ(start->terms, (std::map<std::string, int64_t>{{"%position", 1}}));
}

// The depth of the analysis must be limited, because a file may contain any number of calls.
TEST(IndexValues, ValueIsUnknownIfTheChainOfCallsIsTooLong) {
  ModelBuilder build("Chain");
  Node* sum = build.input("x", ScalarType::kLong, {1});
  for (int i = 0; i < 20'000; ++i) sum = build.call("aten.add.Tensor", {sum, 1});
  const ExportedProgram program = build.finish({sum});
  EXPECT_FALSE(IndexValues(program).of(sum).has_value());
}

TEST(IndexValues, ValueIsUnknownIfItHasTooManyConditionsOrTerms) {
  ModelBuilder build("Growth");
  Node* keys = build.call("aten.arange.default", {8}, {{"dtype", ScalarType::kLong}});
  Node* all = build.call("aten.ge.Scalar", {keys, 0});
  Node* same = all;
  Node* total = build.input("x", ScalarType::kLong, {1});
  for (int i = 1; i <= 40; ++i) {
    same = build.call("aten.logical_and.default", {same, same});
    all = build.call("aten.logical_and.default", {all, build.call("aten.ge.Scalar", {keys, i})});
    Node* next = build.input("x" + std::to_string(i), ScalarType::kLong, {1});
    total = build.call("aten.add.Tensor", {total, next});
  }
  const ExportedProgram program = build.finish({same, all, total});
  IndexValues values(program);
  ASSERT_TRUE(values.of(same).has_value());
  EXPECT_EQ(values.of(same)->conditions.size(), 1U);
  EXPECT_FALSE(values.of(all).has_value());
  EXPECT_FALSE(values.of(total).has_value());
}

}  // namespace
}  // namespace vitrine::aot
