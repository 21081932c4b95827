// Tests the verdict of comparisons: checks the coverage of intervals with a formula, and the rate
// of false alarms with a simulation.
#include "inspector/compare/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "inspector/compare/comparison.h"

namespace vitrine::inspector {
namespace {

// The probability that the median of a distribution is between the k-th smallest and the k-th
// largest of n samples: 1 - 2 * P(X < k), where X is the number of heads in n tosses of a coin.
double coverage(size_t n, size_t k) {
  double below = 0, choose = 1;
  for (size_t i = 0; i < k; ++i) {
    below += choose * std::pow(0.5, n);
    choose = choose * static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return 1 - 2 * below;
}

TEST(MedianInterval, IsTheNarrowestWithAtLeast95PercentCoverage) {
  EXPECT_EQ(median_interval_rank(5), 0u);  // 1 - 2 / 2^5 is 93.75 %
  EXPECT_EQ(median_interval_rank(6), 1u);  // 1 - 2 / 2^6 is 96.875 %
  EXPECT_EQ(median_interval_rank(20), 6u);
  for (size_t n = 0; n < 300; ++n) {
    const size_t k = median_interval_rank(n);
    EXPECT_GE(coverage(n, k), 0.95) << n;
    EXPECT_LT(coverage(n, k + 1), 0.95) << n;
  }
  EXPECT_NEAR(static_cast<double>(median_interval_rank(100'000)), 50'000 - 310, 1)
      << "0.98 * sqrt(n), where 0.5^n underflows";
}

// Published tables of Mann and Whitney's U list the largest U that is significant at 5 % in a
// two-sided test.
TEST(PairwiseInterval, MatchesPublishedTablesOfMannWhitneyU) {
  EXPECT_EQ(pairwise_interval_rank(6, 6), 5u + 1);
  EXPECT_EQ(pairwise_interval_rank(5, 8), 6u + 1);
  EXPECT_EQ(pairwise_interval_rank(10, 10), 23u + 1);
  EXPECT_EQ(pairwise_interval_rank(20, 20), 127u + 1);
  EXPECT_EQ(pairwise_interval_rank(3, 3), 0u);
  EXPECT_EQ(pairwise_interval_rank(8, 5), pairwise_interval_rank(5, 8));
  // The expected rank is from the normal approximation for two sets of 100 samples.
  EXPECT_NEAR(static_cast<double>(pairwise_interval_rank(100, 100)),
              5000 - 1.96 * std::sqrt(100.0 * 100 * 201 / 12), 2);
}

TEST(RatioOfPairs, FivePairsAreTooFew) {
  const Ratio five = ratio_of_pairs({1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}).value();
  EXPECT_EQ(five.verdict, Verdict::kTooFewRuns);
  EXPECT_FALSE(five.is_above(0.001));
  const Ratio six = ratio_of_pairs({1, 1, 1, 1, 1, 1}, {2, 2, 2, 3, 2, 2}).value();
  EXPECT_EQ(six.verdict, Verdict::kSlower);
  EXPECT_EQ(six.ci_low, 2);
  EXPECT_EQ(six.ci_high, 3);
  EXPECT_TRUE(six.is_above(1.9));
  EXPECT_FALSE(six.is_above(2));
}

TEST(RatioOfPairs, RequiresTheWholeIntervalToExceedTwoPercent) {
  const auto ratio = [](double first, double others) {
    return ratio_of_pairs(std::vector<double>(6, 1),
                          {first, others, others, others, others, others})
        .value();
  };
  EXPECT_TRUE(ratio(1.015, 1.015).is_above(1));
  EXPECT_EQ(ratio(1.015, 1.015).verdict, Verdict::kNoChange);
  EXPECT_EQ(ratio(1.015, 1.04).verdict, Verdict::kNoChange);
  EXPECT_EQ(ratio(1.03, 1.03).verdict, Verdict::kSlower);
  EXPECT_EQ(ratio(0.985, 0.96).verdict, Verdict::kNoChange);
  EXPECT_EQ(ratio(0.97, 0.97).verdict, Verdict::kFaster);
}

TEST(RatioOfRuns, RequiresSixRunsOfEachProgram) {
  const std::vector<double> five = {1, 1, 1, 1, 1}, six = {2, 2, 2, 2, 2, 2};
  EXPECT_EQ(ratio_of_runs(five, six).value().verdict, Verdict::kTooFewRuns);
  EXPECT_EQ(ratio_of_runs(six, five).value().verdict, Verdict::kTooFewRuns);
  EXPECT_EQ(ratio_of_runs({1, 1, 1, 1, 1, 1}, six).value().verdict, Verdict::kSlower);
  EXPECT_EQ(ratio_of_runs(six, {1, 1, 1, 1, 1, 1}).value().verdict, Verdict::kFaster);
}

// With 50 runs, the whole confidence interval of the ratio is above 1. However, the middle 80 % of
// the ratios include 1.
TEST(RatioOfRuns, ReportsNoChangeIfTheSpreadOfRunsIncludesOne) {
  std::vector<double> a, b;
  for (int i = 0; i < 50; ++i) {
    a.push_back(100 + i);
    b.push_back(115 + i);
  }
  const Ratio ratio = ratio_of_runs(a, b).value();
  EXPECT_GT(ratio.ci_low, 1);
  EXPECT_LT(ratio.low, 1);
  EXPECT_EQ(ratio.verdict, Verdict::kNoChange);
  EXPECT_FALSE(ratio.is_above(1));
}

Profile profile_of(const std::vector<double>& wall) {
  Profile profile;
  profile.runs = wall.size();
  for (uint32_t i = 0; i < wall.size(); ++i) profile.wall_samples.push_back({i, wall[i]});
  return profile;
}

size_t count_false_alarms(bool is_paired, size_t runs, std::mt19937& random) {
  std::lognormal_distribution<double> noise(0, 0.1), machine(0, 0.3);
  std::bernoulli_distribution is_stalled(0.1);
  size_t alarms = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<double> a, b;
    for (size_t run = 0; run < runs; ++run) {
      const double speed = 1e6 * machine(random);  // shared by neighbors
      a.push_back(speed * noise(random) * (is_stalled(random) ? 10 : 1));
      b.push_back(speed * noise(random) * (is_stalled(random) ? 10 : 1));
    }
    const Comparison result = compare_profiles(profile_of(a), profile_of(b), is_paired);
    const Ratio& ratio = result.wall.ratio.value();
    alarms += ratio.verdict == Verdict::kFaster || ratio.verdict == Verdict::kSlower ? 1 : 0;
  }
  return alarms;
}

// Compares equal programs 400 times. At a rate of 5 %, the mean is 20 false alarms. The limit of 33
// is three standard deviations (13) above the mean.
TEST(Verdict, AtMostFivePercentOfComparisonsOfEqualProgramsAreFalseAlarms) {
  std::mt19937 random(20261126);
  for (const size_t runs : {6, 9, 10, 20, 50}) {
    for (const bool is_paired : {true, false}) {
      const size_t alarms = count_false_alarms(is_paired, runs, random);
      EXPECT_LE(alarms, 33u) << runs << " runs, " << (is_paired ? "paired" : "not paired");
      RecordProperty("alarms_" + std::to_string(runs) + (is_paired ? "_paired" : "_unpaired"),
                     static_cast<int>(alarms));
    }
  }
}

}  // namespace
}  // namespace vitrine::inspector
