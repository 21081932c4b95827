// Tests when --fail_above reports a failure.
#include "tools/common/profile_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::test {
namespace {

using inspector::Comparison;
using inspector::Ratio;
using inspector::Verdict;
using testing::FieldsAre;
using testing::HasSubstr;

struct Decision {
  bool exceeds = false;
  std::string message;
};

Decision decide(const Ratio& ratio, double limit) {
  Comparison comparison;
  comparison.is_paired = ratio.is_paired;
  comparison.runs_a = comparison.runs_b = ratio.is_decided() ? 20 : 2;
  comparison.wall.ratio = ratio;
  testing::internal::CaptureStderr();
  const bool exceeds = tools::exceeds(comparison, limit);
  return {exceeds, testing::internal::GetCapturedStderr()};
}

Ratio paired(double p50, double ci_low, double ci_high, Verdict verdict) {
  return {.p50 = p50, .ci_low = ci_low, .ci_high = ci_high, .verdict = verdict, .is_paired = true};
}

TEST(FailAbove, FailsIfTheWholeIntervalIsAboveTheLimit) {
  EXPECT_THAT(
      decide(paired(1.192, 1.15, 1.23, Verdict::kSlower), 1.1),
      FieldsAre(true, "B takes 1.192 times as long as A (1.150 to 1.230); the limit is 1.1\n"));
  EXPECT_FALSE(decide(paired(1.05, 1.03, 1.08, Verdict::kSlower), 1.1).exceeds);
}

TEST(FailAbove, PassesWithAMessageIfTheIntervalContainsTheLimit) {
  EXPECT_THAT(decide(paired(1.19, 0.98, 1.35, Verdict::kNoChange), 1.1),
              FieldsAre(false,
                        "B/A 1.190 (0.980 to 1.350) is above the limit of 1.1, but within the "
                        "noise of the runs\n"));
  EXPECT_EQ(decide(paired(1.05, 0.98, 1.35, Verdict::kNoChange), 1.1).message, "");
}

TEST(FailAbove, AgreesWithTheReportOnSmallChanges) {
  EXPECT_THAT(decide(paired(1.007, 1.006, 1.008, Verdict::kNoChange), 1.005),
              FieldsAre(false, HasSubstr("but the change may be less than 2 %")));
}

TEST(FailAbove, LimitBelowOneRequiresASpeedup) {
  EXPECT_TRUE(decide(paired(1, 0.99, 1.01, Verdict::kNoChange), 0.9).exceeds);
  EXPECT_FALSE(decide(paired(0.8, 0.79, 0.81, Verdict::kFaster), 0.9).exceeds);
}

TEST(FailAbove, TooFewRunsPassWithAMessage) {
  EXPECT_THAT(
      decide({.p50 = 5, .is_paired = true}, 1.1),
      FieldsAre(false, "2 pairs of runs are too few to decide; use --num_executions 6 or more\n"));
  EXPECT_EQ(decide({.p50 = 5}, 1.1).message,
            "2 runs of A and 2 of B are too few to decide; record 6 or more runs of each\n");
}

TEST(FailAbove, UnpairedRunsFailOnlyIfBothIntervalsAreAboveTheLimit) {
  Ratio ratio{.p50 = 1.3, .low = 1.05, .high = 1.6, .ci_low = 1.2, .ci_high = 1.4};
  ratio.verdict = Verdict::kSlower;
  EXPECT_FALSE(decide(ratio, 1.1).exceeds);
  ratio.low = 1.15;
  EXPECT_TRUE(decide(ratio, 1.1).exceeds);
}

}  // namespace
}  // namespace vitrine::test
