// Tests integer tensors whose elements are functions of their index. Axis 0 is the last dim.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "aot/passes/index_values.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {
namespace {

using Terms = std::map<std::string, int64_t>;

class IndexValueRules : public testing::Test {
 protected:
  Node* range(int64_t count) {
    return build.call("aten.arange.default", {count}, {{"dtype", ScalarType::kLong}});
  }
  std::optional<LinearSum> sum_of(Node* node) {
    const ExportedProgram program = build.finish({node});
    return IndexValues(program).integer(Argument(node));
  }
  void expect_sum(Node* node, int64_t constant, const Terms& terms) {
    const std::optional<LinearSum> sum = sum_of(node);
    ASSERT_TRUE(sum.has_value());
    EXPECT_EQ(sum->constant, constant);
    EXPECT_EQ(sum->terms, terms);
  }
  ModelBuilder build{"Net"};
};

TEST_F(IndexValueRules, ArangeBeginsAtItsStartArgument) {
  expect_sum(build.call("aten.arange.start", {2, 8}, {{"dtype", ScalarType::kLong}}), 2,
             {{"axis 0", 1}});
}

TEST_F(IndexValueRules, OperandsAreBroadcastFromTheLastAxis) {
  Node* rows = build.call("aten.unsqueeze.default", {range(4), 1});
  Node* difference = build.call("aten.sub.Tensor", {range(6), rows});
  expect_sum(build.call("aten.add.Tensor", {difference, 3}), 3, {{"axis 0", 1}, {"axis 1", -1}});
}

TEST_F(IndexValueRules, SliceShiftsTheSlicedAxis) {
  expect_sum(build.call("aten.slice.Tensor", {range(8), 0, 3, 7}), 3, {{"axis 0", 1}});
}

// Selects row 2 of a matrix with the elements row - column.
TEST_F(IndexValueRules, SelectReplacesTheSelectedAxisWithTheIndex) {
  Node* rows = build.call("aten.unsqueeze.default", {range(4), 1});
  Node* difference = build.call("aten.sub.Tensor", {rows, range(6)});
  expect_sum(build.call("aten.select.int", {difference, 0, 2}), 2, {{"axis 0", -1}});
}

TEST_F(IndexValueRules, IndexingSubstitutesTheIndexForTheAxis) {
  Node* doubled = build.call("aten.add.Tensor", {range(8), range(8)});
  Node* picked = build.call("aten.add.Tensor", {range(3), 5});
  expect_sum(build.call("aten.index.Tensor", {doubled, Argument::list({picked})}), 10,
             {{"axis 0", 2}});
}

TEST_F(IndexValueRules, InputsBecomeTermsOfTheSum) {
  Node* position = build.input("position", ScalarType::kLong, {1});
  expect_sum(build.call("aten.add.Tensor", {range(3), position}), 0,
             {{"axis 0", 1}, {"%position", 1}});
}

TEST_F(IndexValueRules, ValuesOfSlicesWithStepsAreUnknown) {
  EXPECT_FALSE(sum_of(build.call("aten.slice.Tensor", {range(8), 0, 0, 8, 2})).has_value());
}

TEST_F(IndexValueRules, ValuesOfFloatTensorsAreUnknown) {
  EXPECT_FALSE(
      sum_of(build.call("aten.arange.default", {4}, {{"dtype", ScalarType::kFloat}})).has_value());
}

// key < query becomes query - key - 1 >= 0.
TEST_F(IndexValueRules, ComparisonsBecomeConditions) {
  Node* rows = build.call("aten.unsqueeze.default", {range(4), 1});
  Node* mask = build.call("aten.lt.Tensor", {range(4), rows});
  const ExportedProgram program = build.finish({mask});
  const std::optional<IndexValue> value = IndexValues(program).of(mask);
  ASSERT_TRUE(value.has_value());
  ASSERT_EQ(value->kind, IndexValue::Kind::kBoolMask);
  ASSERT_EQ(value->conditions.size(), 1U);
  EXPECT_EQ(value->conditions[0].constant, -1);
  EXPECT_EQ(value->conditions[0].terms, (Terms{{"axis 0", -1}, {"axis 1", 1}}));
}

}  // namespace
}  // namespace vitrine::aot
