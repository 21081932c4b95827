#include "bench/report/results.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/format_error.h"
#include "test/bench/made_results.h"

namespace vitrine::bench {
namespace {

TEST(BenchResults, AreUnchangedAfterWriteAndRead) {
  const Results made = test::made_results();
  const Results read = parse_results(results_json(made), "bench.json");
  EXPECT_EQ(read.facts, made.facts);
  EXPECT_EQ(read.copy_bytes_per_s, made.copy_bytes_per_s);
  EXPECT_EQ(read.multiply_adds_per_s, made.multiply_adds_per_s);
  EXPECT_EQ(read.narrow_multiply_adds_per_s, made.narrow_multiply_adds_per_s);
  ASSERT_EQ(read.results.size(), made.results.size());
  for (size_t i = 0; i < made.results.size(); ++i) {
    EXPECT_EQ(read.results[i].id(), made.results[i].id());
    EXPECT_EQ(read.results[i].time.p99, made.results[i].time.p99);
    EXPECT_EQ(read.results[i].time.runs, made.results[i].time.runs);
    EXPECT_EQ(read.results[i].work, made.results[i].work);
    EXPECT_EQ(read.results[i].note, made.results[i].note);
  }
}

TEST(BenchResults, RejectsInvalidFiles) {
  for (const char* text : {"", "{}", "[1]", R"({"format": "other", "version": 1})",
                           R"({"format": "vitrine-bench", "version": 99})",
                           R"({"format": "vitrine-bench", "version": 1, "facts": {}})"}) {
    EXPECT_THROW(parse_results(text, "wrong.json"), FormatError) << text;
  }
}

// The delegate's time divided by the kernel's is 1250 / 750 at 250 elements, and 2000 / 3000 at
// 1000 elements. Between these sizes, the ratio is interpolated linearly on logarithmic scales.
TEST(BenchCrossings, InterpolateTheSizeAtWhichTimesAreEqual) {
  const std::vector<Crossing> crossings = crossings_of(test::made_results());
  ASSERT_EQ(crossings.size(), 1U);
  EXPECT_EQ(crossings[0].op, "add");
  EXPECT_EQ(crossings[0].unit, "elements");
  ASSERT_TRUE(crossings[0].work.has_value());
  EXPECT_NEAR(*crossings[0].work, 250 * std::pow(4, std::log(5.0 / 3) / std::log(2.5)), 1e-6);
}

TEST(BenchCrossings, AreZeroIfAlwaysFasterAndUnsetIfNeverFaster) {
  Results results = test::made_results();
  for (Result& result : results.results) {
    if (result.variant == "xnnpack") result.time.p50 = 1;
  }
  EXPECT_EQ(crossings_of(results).at(0).work, 0.0);
  for (Result& result : results.results) {
    if (result.variant == "xnnpack") result.time.p50 = 1e9;
  }
  EXPECT_EQ(crossings_of(results).at(0).work, std::nullopt);
}

TEST(BenchCrossings, IgnoreDifferencesWithinNoise) {
  Results results = test::made_results();
  for (Result& result : results.results) result.time.noise = 10;
  EXPECT_EQ(crossings_of(results).at(0).work, std::nullopt);
}

TEST(BenchCrossings, AreUnsetIfSlowerAtTheLargestSize) {
  Results results = test::made_results();
  for (Result& result : results.results) {
    if (result.variant == "xnnpack" && result.work == 100.0) result.time.p50 = 1;
    if (result.variant == "xnnpack" && result.work == 1000.0) result.time.p50 = 1e9;
  }
  EXPECT_EQ(crossings_of(results).at(0).work, std::nullopt);
}

}  // namespace
}  // namespace vitrine::bench
