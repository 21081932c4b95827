#include "inspector/join/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/corpus.h"

namespace vitrine::inspector {
namespace {

TEST(Statistics, ReturnsZeroForNoRuns) { EXPECT_EQ(statistics_of({}, 0).avg, 0); }

TEST(Statistics, AllFiguresEqualTheTimeOfASingleRun) {
  const TimeStatistics one = statistics_of({7}, 1);
  for (const double value : {one.min, one.p50, one.p90, one.max, one.avg}) EXPECT_EQ(value, 7);
}

TEST(Statistics, InterpolatesBetweenRanks) {
  const TimeStatistics s = statistics_of({40, 10, 30, 20}, 4);
  EXPECT_DOUBLE_EQ(s.min, 10);
  EXPECT_DOUBLE_EQ(s.p50, 25);
  EXPECT_DOUBLE_EQ(s.p90, 30 + 0.7 * 10);
  EXPECT_DOUBLE_EQ(s.max, 40);
  EXPECT_DOUBLE_EQ(s.avg, 25);
}

TEST(Statistics, CountsRunsWithoutASampleAsZero) {
  const TimeStatistics s = statistics_of({6, 3}, 5);
  EXPECT_DOUBLE_EQ(s.min, 0);
  EXPECT_DOUBLE_EQ(s.p50, 0);
  EXPECT_DOUBLE_EQ(s.p90, 3 + 0.6 * 3);
  EXPECT_DOUBLE_EQ(s.max, 6);
  EXPECT_DOUBLE_EQ(s.avg, 9.0 / 5);
}

RunSamples runs_of(const std::vector<double>& ns) {
  RunSamples samples;
  for (const double time : ns) samples.push_back({static_cast<uint32_t>(samples.size()), time});
  return samples;
}

TEST(Statistics, OutliersTakeMoreThanTwiceTheMedianTime) {
  // The median of the counted runs is 10. The first run is a warm-up.
  const RunSamples wall = runs_of({90, 10, 9, 21, 10, 8, 20, 400});
  const RunWindow window = {.cold = 1, .all = 8};
  EXPECT_EQ(outliers_of(wall, window), (std::vector<uint32_t>{3, 7}));
  EXPECT_TRUE(outliers_of(runs_of({10, 10, 10, 400}), {.cold = 0, .all = 4}).empty());
  EXPECT_TRUE(outliers_of(runs_of({10, 10, 10, 20, 10}), {.cold = 0, .all = 5}).empty());
}

TEST(Statistics, IncludesOutliersButNotWarmUps) {
  const RunSamples samples = runs_of({90, 10, 20, 400, 30, 40});
  const TimeStatistics s = statistics_of(samples, {.cold = 1, .all = 6});
  EXPECT_DOUBLE_EQ(s.avg, (10 + 20 + 400 + 30 + 40) / 5.0);
  EXPECT_DOUBLE_EQ(s.max, 400);
  EXPECT_DOUBLE_EQ(s.p50, 30);
  // A row counts as zero in runs that do not contain it.
  const RunSamples some = {{1, 12}, {3, 300}};
  EXPECT_DOUBLE_EQ(statistics_of(some, {.cold = 1, .all = 6}).avg, 312 / 5.0);
}

// The tables have the columns raw, p10, p50, p90, avg, min, max as ExecuTorch's Inspector (numpy)
// computed them.
TEST(Statistics, MatchesTheExecuTorchInspector) {
  VITRINE_CORPUS_CASE(corpus, "");
  size_t rows = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("inspector") || entry.path().extension() != ".tsv") continue;
    std::ifstream stream(entry.path());
    std::string line;
    std::getline(stream, line);
    while (std::getline(stream, line)) {
      std::vector<std::string> cells;
      std::istringstream split(line);
      for (std::string cell; std::getline(split, cell, '\t');) cells.push_back(cell);
      std::string list = cells.at(2);
      std::replace_if(
          list.begin(), list.end(), [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
      std::istringstream raw(list);
      std::vector<double> samples;
      for (double sample = 0; raw >> sample;) samples.push_back(sample);
      const size_t runs = samples.size();
      const TimeStatistics s = statistics_of(std::move(samples), runs);
      EXPECT_NEAR(s.p50, std::stod(cells[4]), 1e-9);
      EXPECT_NEAR(s.p90, std::stod(cells[5]), 1e-9);
      EXPECT_NEAR(s.avg, std::stod(cells[6]), 1e-9);
      EXPECT_NEAR(s.min, std::stod(cells[7]), 1e-9);
      EXPECT_NEAR(s.max, std::stod(cells[8]), 1e-9);
      ++rows;
    }
  }
  EXPECT_GT(rows, 1000u);
}

}  // namespace
}  // namespace vitrine::inspector
