#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/compare/comparison.h"
#include "inspector/compare/row_alignment.h"
#include "test/inspector/compare/compared_sides.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using inspector::Alignment;
using inspector::Comparison;

TEST(ComparisonTest, PairedRunsUseRatiosOfNeighboringRuns) {
  TraceBuilder a, b;
  // The machine gets slower from run to run, but the ratio of B to A is constant.
  for (uint64_t slow = 1; slow <= 8; ++slow) {
    run_kernels(a, {{"aten::mm.out", 100 * slow}});
    run_kernels(b, {{"aten::mm.out", 150 * slow}});
  }
  const TracedSide side_a = side_of(a), side_b = side_of(b);
  const auto paired = compare(side_a, side_b, true).ops[0].ratio.value();
  EXPECT_DOUBLE_EQ(paired.low, 1.5);
  EXPECT_DOUBLE_EQ(paired.p50, 1.5);
  EXPECT_DOUBLE_EQ(paired.high, 1.5);
  EXPECT_EQ(paired.verdict, inspector::Verdict::kSlower);
  const auto unpaired = compare(side_a, side_b, false).ops[0].ratio.value();
  EXPECT_LT(unpaired.low, 1);
  EXPECT_GT(unpaired.high, 2);
  EXPECT_EQ(unpaired.verdict, inspector::Verdict::kNoChange);
}

TEST(ComparisonTest, OmitsTheSlowestTenthOfRuns) {
  TraceBuilder a, b;
  for (int i = 0; i < 10; ++i) {
    run_kernels(a, {{"aten::mm.out", i == 3 ? 900'000 : 100}});
    run_kernels(b, {{"aten::mm.out", i == 7 ? 900'000 : 100}});
  }
  const Comparison result = compare(side_of(a), side_of(b), true);
  EXPECT_EQ(result.runs_a, 8u);
  EXPECT_EQ(result.runs_b, 8u);
  EXPECT_DOUBLE_EQ(result.ops[0].a.avg, 100);
  EXPECT_DOUBLE_EQ(result.ops[0].b.avg, 100);
  expect_sums(result);
}

// With fewer than ten runs, the comparison leaves out no run, so six pairs of runs are enough for a
// verdict.
TEST(ComparisonTest, KeepsAllRunsIfThereAreOnlySix) {
  TraceBuilder a, b;
  for (uint64_t i = 0; i < 6; ++i) {
    run_kernels(a, {{"aten::mm.out", 100 + i}});
    run_kernels(b, {{"aten::mm.out", 900 - i}});
  }
  const Comparison result = compare(side_of(a), side_of(b), true);
  EXPECT_EQ(result.runs_a, 6u);
  EXPECT_EQ(result.wall.ratio.value().verdict, inspector::Verdict::kSlower);
}

TEST(ComparisonTest, ChangeIsTheDifferenceOfMedians) {
  TraceBuilder a, b;
  for (const uint64_t ns : {100, 110, 900}) run_kernels(a, {{"aten::mm.out", ns}});
  for (const uint64_t ns : {120, 150, 160}) run_kernels(b, {{"aten::mm.out", ns}});
  EXPECT_DOUBLE_EQ(compare(side_of(a), side_of(b)).ops[0].change, 40);
}

TEST(ComparisonTest, IgnoresWarmUps) {
  TracedSide side = kernel_side({{"aten::mm.out", 10}});
  side.profile.cold_runs = 1;
  for (inspector::RunSamples* samples :
       {&side.profile.rows[0].samples, &side.profile.wall_samples}) {
    samples->back().run = 1;
    samples->insert(samples->begin(), {0, 5000});
  }
  const Comparison result = compare(side, kernel_side({{"aten::mm.out", 20}}));
  EXPECT_DOUBLE_EQ(result.ops[0].ratio.value().p50, 2);
}

TEST(RowAlignment, AlignsFoldedOpsWithTheKernelsOfTheOtherProgram) {
  const Comparison result = compare(delegated_net(), portable_net());
  EXPECT_EQ(result.alignment, Alignment::kHandles);
  // The first group is the layout change.
  ASSERT_THAT(rows_of(result.ops),
              ElementsAre(RowPair{{0}, {}}, RowPair{{1}, {0, 1, 2}}, RowPair{{2}, {3}}));
  EXPECT_FALSE(result.ops[0].ratio.has_value());
  EXPECT_DOUBLE_EQ(result.ops[1].a.avg, 140);
  EXPECT_DOUBLE_EQ(result.ops[1].b.avg, 700);
  EXPECT_DOUBLE_EQ(result.ops[1].ratio.value().p50, 5);
  EXPECT_DOUBLE_EQ(result.ops[1].change, 560);
  expect_sums(result);
}

TEST(RowAlignment, AlignsByOpAndModuleIfHandlesDiffer) {
  std::vector<NodeText> renumbered = kNet;
  for (NodeText& node : renumbered) node.debug_handle = 5 - node.debug_handle;
  const Comparison result =
      compare(portable_net(), portable_net(renumbered, R"({"0": 4, "1": 3, "2": 2, "3": 1})"));
  EXPECT_EQ(result.alignment, Alignment::kOps);
  EXPECT_THAT(rows_of(result.ops), ElementsAre(RowPair{{0}, {0}}, RowPair{{1}, {1}},
                                               RowPair{{2}, {2}}, RowPair{{3}, {3}}));
}

TEST(RowAlignment, AlignsByNameAndOrderWithoutRecords) {
  const Comparison result =
      compare(kernel_side({{"aten::mm.out", 10}, {"aten::add.out", 20}, {"aten::relu.out", 30}}),
              kernel_side({{"aten::mm.out", 10}, {"aten::mul.out", 5}, {"aten::relu.out", 60}}));
  EXPECT_EQ(result.alignment, Alignment::kOrder);
  ASSERT_THAT(rows_of(result.ops), ElementsAre(RowPair{{0}, {0}}, RowPair{{}, {1}},
                                               RowPair{{1}, {}}, RowPair{{2}, {2}}));
  EXPECT_DOUBLE_EQ(result.ops[3].ratio.value().p50, 2);
  EXPECT_THAT(result.notes, testing::Contains(HasSubstr("run order")));
  expect_sums(result);
}

TEST(RowAlignment, AlignsEveryRowOfAProgramWithItself) {
  // The profiles are made without a record, so their rows do not have debug handles.
  const Kernels kernels = {{"my::op", 10}, {"aten::where.self_out", 20}, {"my::op", 30}};
  const TracedSide a = kernel_side(kernels), b = kernel_side(kernels);
  const inspector::RowAlignment result = inspector::align_rows(a.profile, b.profile);
  EXPECT_THAT(rows_of(result.groups),
              ElementsAre(RowPair{{0}, {0}}, RowPair{{1}, {1}}, RowPair{{2}, {2}}));
  EXPECT_THAT(result.notes, IsEmpty()) << "an exact alignment is not a guess";
}

void add_kernels(inspector::Profile& profile, const std::vector<const char*>& names) {
  for (const char* name : names) profile.rows.emplace_back().kernel = name;
}

TEST(RowAlignment, IgnoresNumberSuffixesInNames) {
  inspector::Profile a, b;
  add_kernels(a, {"my::op_1", "my::op_2", "my::other"});
  add_kernels(b, {"my::op_7", "my::op_9", "my::other"});
  EXPECT_EQ(inspector::align_rows(a, b).groups.size(), 3u);
}

TEST(RowAlignment, AlignsRowsWithoutHandlesEvenIfOtherRowsHaveHandles) {
  inspector::Profile a, b;
  for (inspector::Profile* profile : {&a, &b}) {
    inspector::ProfileRow& row = profile->rows.emplace_back();
    row.where = inspector::Where::kDelegate;
    row.kernel = "GEMM";
    row.debug_handles = {1};
  }
  add_kernels(a, {"aten::where.self_out", "aten::add.out"});
  add_kernels(b, {"aten::mul.out", "aten::where.self_out", "aten::add.out"});
  const inspector::RowAlignment result = inspector::align_rows(a, b);
  EXPECT_EQ(result.alignment, Alignment::kHandles);
  ASSERT_EQ(result.groups.size(), 4u);
  EXPECT_THAT(result.groups[1].rows_b, ElementsAre(1)) << "only B contains mul";
  EXPECT_THAT(result.groups[2].rows_b, ElementsAre(2));
  EXPECT_THAT(result.groups[3].rows_b, ElementsAre(3));
  EXPECT_THAT(result.notes, testing::Contains(HasSubstr("have no debug handle")));
}

}  // namespace
}  // namespace vitrine::test
