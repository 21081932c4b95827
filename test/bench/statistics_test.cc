#include "bench/report/statistics.h"

#include <gtest/gtest.h>

namespace vitrine::bench {
namespace {

TEST(BenchStatistics, InterpolatesPercentilesLinearly) {
  const std::vector<double> sorted = {10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(percentile(sorted, 0), 10);
  EXPECT_DOUBLE_EQ(percentile(sorted, 0.5), 25);
  EXPECT_DOUBLE_EQ(percentile(sorted, 0.9), 37);
  EXPECT_DOUBLE_EQ(percentile(sorted, 1), 40);
  EXPECT_DOUBLE_EQ(percentile({7}, 0.99), 7);
}

TEST(BenchStatistics, ReturnsZerosWithoutSamples) {
  const Timing timing = timing_of({});
  EXPECT_EQ(timing.runs, 0U);
  EXPECT_EQ(timing.p50, 0);
}

TEST(BenchStatistics, NoiseOfFewRunsIsHalfTheRange) {
  const Timing timing = timing_of({90, 100, 120});
  EXPECT_DOUBLE_EQ(timing.p50, 100);
  EXPECT_DOUBLE_EQ(timing.noise, 0.15);
}

// The noise is computed from ten groups of consecutive runs. Here, each group has four runs with
// the same time: 101 in the first group, and 110 in the last.
TEST(BenchStatistics, NoiseExcludesTheFastestAndTheSlowestGroupOfRuns) {
  std::vector<double> samples;
  for (int stretch = 1; stretch <= 10; ++stretch) {
    for (int i = 0; i < 4; ++i) samples.push_back(100 + stretch);
  }
  const Timing timing = timing_of(samples);
  EXPECT_DOUBLE_EQ(timing.p50, 105.5);
  EXPECT_DOUBLE_EQ(timing.noise, (109.0 - 102.0) / 2 / 105.5);
}

TEST(BenchStatistics, OneSlowRunAddsNoNoise) {
  std::vector<double> samples(100, 50.0);
  samples[42] = 5000;
  const Timing timing = timing_of(samples);
  EXPECT_DOUBLE_EQ(timing.p50, 50);
  EXPECT_DOUBLE_EQ(timing.noise, 0);
}

TEST(BenchStatistics, DifferencesUpToTheSumOfTheTwoNoiseLevelsAreNoise) {
  EXPECT_TRUE(within_noise(1.05, 0.03, 0.03));
  EXPECT_TRUE(within_noise(0.95, 0.03, 0.03));
  EXPECT_FALSE(within_noise(1.07, 0.03, 0.03));
}

}  // namespace
}  // namespace vitrine::bench
