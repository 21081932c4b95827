// Uses small traces to test which recorded tensors are compared.
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

TEST(ValueComparisonTest, FindsTheFirstOpThatDiffers) {
  const RecordedSide a = portable_run(), b = portable_run(0.5f);
  const ValueComparison result = compare(a, b);
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

TEST(ValueComparisonTest, ComparesTheOutputsOfDelegates) {
  const RecordedSide a = portable_run(), b = delegated_run(0.25f);
  const ValueComparison result = compare(a, b);
  ASSERT_THAT(ops_of(result), ElementsAre("relu", "add", "mul"));
  EXPECT_EQ(result.values[0].difference.figures.mismatches, 0u);
  EXPECT_EQ(result.first_below, std::optional<size_t>(1));
  EXPECT_EQ(result.values[1].difference.figures.max_abs, 0.25);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(ValueComparisonTest, AlignsWithoutEqualHandles) {
  std::vector<NodeText> renumbered = kRecordedNet;
  for (NodeText& node : renumbered) node.debug_handle = 5 - node.debug_handle;
  for (const bool has_records : {false, true}) {
    SCOPED_TRACE(has_records);
    const RecordedSide a = portable_run(0, has_records ? kRecordedNet : std::vector<NodeText>());
    const RecordedSide b =
        portable_run(has_records ? 0.5f : 1.0f, has_records ? renumbered : std::vector<NodeText>(),
                     R"({"0": 4, "1": 3, "2": 2, "3": 1})");
    const ValueComparison result = compare(a, b);
    EXPECT_EQ(result.alignment, has_records ? Alignment::kOps : Alignment::kOrder);
    EXPECT_EQ(result.values.size(), 4u);
    EXPECT_EQ(result.first_below, std::optional<size_t>(1));
  }
}

TEST(ValueComparisonTest, DoesNotCompareDifferentShapes) {
  const auto run = [](const std::vector<float>& elements) {
    RecordedSide side;
    side.kernel(0, "aten::convolution.out");
    side.value(0, elements);
    side.end({}, "");
    return side;
  };
  const RecordedSide a = run({1, 2}), b = run({1, 2, 3});
  const ValueComparison result = compare(a, b);
  EXPECT_THAT(result.values, IsEmpty());
  ASSERT_EQ(result.not_compared.size(), 1u);
  EXPECT_EQ(result.not_compared[0].reason, "the shapes differ");
  EXPECT_FALSE(result.is_below());
  EXPECT_FALSE(result.has_figures());
}

struct Step {
  NodeText node;
  std::string kernel;
  std::vector<float> value;
};

// Runs each step as one kernel call. If `has_record` is false, the side does not have an ETRecord.
RecordedSide run_steps(const std::vector<Step>& steps, bool has_record = true) {
  RecordedSide side;
  std::vector<NodeText> nodes;
  std::string handles;
  for (size_t i = 0; i < steps.size(); ++i) {
    side.kernel(static_cast<int32_t>(i), steps[i].kernel);
    side.value(static_cast<int32_t>(i), steps[i].value);
    nodes.push_back(steps[i].node);
    handles += (i == 0 ? "" : ", ") + ('"' + std::to_string(i)) +
               "\": " + std::to_string(steps[i].node.debug_handle);
  }
  side.end(has_record ? nodes : std::vector<NodeText>(), "{" + handles + "}");
  return side;
}

Step convolution(int handle, std::vector<float> value) {
  return {{"conv", "aten.convolution.default", handle, {}, "c", {2}},
          "aten::convolution.out",
          std::move(value)};
}
Step batch_norm(int handle, std::vector<float> value) {
  return {{"norm", "aten._native_batch_norm_legit_no_training.default", handle, {"conv"}, "n", {2}},
          "aten::_native_batch_norm_legit_no_training.out",
          std::move(value)};
}
Step relu(int handle, const std::string& input, std::vector<float> value) {
  return {
      {"relu", "aten.relu.default", handle, {input}, "r", {2}}, "aten::relu.out", std::move(value)};
}

// The convolution returns {10, 20}, and the batch norm changes this result to {1, 2}. In one of the
// two programs, the batch norm is folded into the convolution. The handles of the two programs are
// equal, different, or unknown.
TEST(ValueComparisonTest, ComparesABatchNormWithTheConvolutionItWasFoldedInto) {
  for (const int shift : {0, 10, 99}) {
    SCOPED_TRACE(shift);
    const bool has_records = shift != 99;
    const RecordedSide apart = run_steps(
        {convolution(1, {10, 20}), batch_norm(2, {1, 2}), relu(3, "norm", {1, 2})}, has_records);
    const RecordedSide folded =
        run_steps({convolution(1 + shift, {1, 2}), relu(3 + shift, "conv", {1, 2})}, has_records);
    for (const bool is_a_folded : {false, true}) {
      const ValueComparison result = is_a_folded ? compare(folded, apart) : compare(apart, folded);
      ASSERT_EQ(result.values.size(), 2u);
      EXPECT_FALSE(result.is_below());
      EXPECT_THAT(result.not_compared, IsEmpty());
      const auto& rows = is_a_folded ? result.values[0].op.rows_b : result.values[0].op.rows_a;
      EXPECT_THAT(rows, ElementsAre(0, 1));
    }
  }
}

TEST(ValueComparisonTest, DoesNotCompareAValueThatMayIncludeAnActivation) {
  for (const int shift : {0, 10}) {
    const RecordedSide a = run_steps({convolution(1, {-1, 2}), relu(3, "conv", {0, 2})});
    const RecordedSide b = run_steps({convolution(1 + shift, {0, 2})});
    const ValueComparison result = compare(a, b);
    EXPECT_THAT(result.values, IsEmpty());
    ASSERT_EQ(result.not_compared.size(), 1u);
    EXPECT_EQ(result.not_compared[0].reason,
              "A runs the relu after this op as a separate op, but the value of B may already "
              "include the relu");
    EXPECT_FALSE(result.has_figures());
    EXPECT_FALSE(result.advice.empty());
  }
}

TEST(ValueComparisonTest, RejectsATraceWithoutValues) {
  RecordedSide b;
  b.kernel(0, "aten::convolution.out");
  b.end(kRecordedNet, R"({"0": 1})");
  EXPECT_THROW(compare(portable_run(), b), inspector::InspectorError);
}

}  // namespace
}  // namespace vitrine::test
