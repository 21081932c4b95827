// Tests the arithmetic of comparisons on small traces.
#include "inspector/compare/comparison.h"

#include <gtest/gtest.h>

#include "test/inspector/compare/compared_sides.h"

namespace vitrine::test {
namespace {

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

// If there are fewer than ten runs, the comparison uses every run, so that six pairs suffice for a
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
  TraceBuilder a, b;
  run_kernels(a, {{"aten::mm.out", 10}});
  run_kernels(b, {{"aten::mm.out", 20}});
  TracedSide side = side_of(a);
  side.profile.cold_runs = 1;
  for (inspector::RunSamples* samples :
       {&side.profile.rows[0].samples, &side.profile.wall_samples}) {
    samples->back().run = 1;
    samples->insert(samples->begin(), {0, 5000});
  }
  EXPECT_DOUBLE_EQ(compare(side, side_of(b)).ops[0].ratio.value().p50, 2);
}

}  // namespace
}  // namespace vitrine::test
