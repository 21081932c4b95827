// Which recorded tensors are set against each other, on traces made to measure.
#include "inspector/compare/value_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "test/inspector/compare/recorded_side.h"

namespace vitrine::test {
namespace {

using inspector::Alignment;
using inspector::ValueComparison;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ValueComparisonTest, NamesTheFirstOpThatDiffers) {
  RecordedSide a, b;
  run_portable(a);
  run_portable(b, 0.5f);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  EXPECT_EQ(result.alignment, Alignment::kHandles);
  ASSERT_THAT(ops_of(result), ElementsAre("convolution", "relu", "add", "mul"));
  ASSERT_EQ(result.first_below, std::optional<size_t>(1));
  EXPECT_TRUE(result.is_below());
  EXPECT_EQ(result.values[0].difference.figures.mismatches, 0u);
  const auto& relu = result.values[1];
  EXPECT_THAT(relu.op.rows_a, ElementsAre(1));
  EXPECT_EQ(relu.difference.figures.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(relu.difference.figures.sqnr_db, 10 * std::log10(4 / 0.25));
  ASSERT_EQ(result.outputs.size(), 1u);
  EXPECT_DOUBLE_EQ(result.outputs[0].figures.sqnr_db, 10 * std::log10(36 / 0.25));
}

TEST(ValueComparisonTest, ADelegateIsComparedAtItsBoundary) {
  RecordedSide a, b;
  run_portable(a);
  run_delegated(b, 0.25f);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  ASSERT_THAT(ops_of(result), ElementsAre("relu", "add", "mul"));
  EXPECT_EQ(result.values[0].difference.figures.mismatches, 0u);
  EXPECT_EQ(result.first_below, std::optional<size_t>(1));
  EXPECT_EQ(result.values[1].difference.figures.max_abs, 0.25);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(ValueComparisonTest, WithoutRecordsNamesGoInOrder) {
  RecordedSide a, b;
  run_portable(a, 0, {});
  run_portable(b, 1, {});
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  EXPECT_EQ(result.alignment, Alignment::kOrder);
  EXPECT_EQ(result.values.size(), 4u);
  EXPECT_EQ(result.first_below, std::optional<size_t>(1));
}

TEST(ValueComparisonTest, OtherHandlesOfTheSameModelGoByOpAndModule) {
  std::vector<NodeText> renumbered = kRecordedNet;
  for (NodeText& node : renumbered) node.debug_handle = 5 - node.debug_handle;
  RecordedSide a, b;
  run_portable(a);
  run_portable(b, 0.5f, renumbered, R"({"0": 4, "1": 3, "2": 2, "3": 1})");
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  EXPECT_EQ(result.alignment, Alignment::kOps);
  ASSERT_EQ(result.values.size(), 4u);
  EXPECT_EQ(result.first_below, std::optional<size_t>(1));
}

TEST(ValueComparisonTest, OtherShapesAreNotCompared) {
  const auto run = [](RecordedSide& side, const std::vector<float>& elements) {
    side.begin();
    side.kernel(0, "aten::convolution.out");
    side.value(0, elements);
    side.end({}, "");
  };
  RecordedSide a, b;
  run(a, {1, 2});
  run(b, {1, 2, 3});
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  ASSERT_EQ(result.values.size(), 1u);
  EXPECT_EQ(result.values[0].difference.why_not, "the shapes differ");
  EXPECT_FALSE(result.is_below());
}

TEST(ValueComparisonTest, ATraceWithoutValuesIsRefused) {
  RecordedSide a, b;
  run_portable(a);
  b.begin();
  b.kernel(0, "aten::convolution.out");
  b.end(kRecordedNet, R"({"0": 1})");
  EXPECT_THROW(inspector::compare_values(a.run(), b.run(), 40), inspector::InspectorError);
}

}  // namespace
}  // namespace vitrine::test
