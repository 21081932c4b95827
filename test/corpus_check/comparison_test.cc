#include "test/corpus_check/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace vitrine::corpus {
namespace {

template <class T>
Comparison compare_values(const std::vector<T>& actual, const std::vector<T>& expected,
                          const Tolerance& tolerance) {
  return compare(std::as_bytes(std::span(actual)), std::as_bytes(std::span(expected)),
                 scalar_type_of<T>, tolerance);
}

TEST(ComparisonTest, ReportsLargestErrors) {
  const Comparison result = compare_values<float>({1.0f, 2.5f}, {1.0f, 2.0f}, {1.0, 0.0, -1});
  EXPECT_EQ(result.failure, "");
  EXPECT_DOUBLE_EQ(result.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(result.max_rel, 0.25);
}

TEST(ComparisonTest, FailsOutsideTolerance) {
  EXPECT_NE(compare_values<float>({1.2f}, {1.0f}, {0.1, 0.0, -1}).failure, "");
  EXPECT_EQ(compare_values<float>({1.2f}, {1.0f}, {0.1, 0.11, -1}).failure, "");
}

TEST(ComparisonTest, NanEqualsOnlyNan) {
  const float nan = std::nanf("");
  EXPECT_EQ(compare_values<float>({nan}, {nan}, {0, 0, -1}).failure, "");
  EXPECT_NE(compare_values<float>({nan}, {1.0f}, {1e9, 1e9, -1}).failure, "");
  EXPECT_NE(compare_values<float>({1.0f}, {nan}, {1e9, 1e9, -1}).failure, "");
  EXPECT_NE(compare_values<float>({INFINITY}, {-INFINITY}, {1e9, 1e9, -1}).failure, "");
}

TEST(ComparisonTest, RequiresEqualIntegers) {
  EXPECT_NE(compare_values<int64_t>({1000001}, {1000000}, {1, 1, -1}).failure, "");
  EXPECT_EQ(compare_values<int64_t>({7}, {7}, {0, 0, -1}).failure, "");
}

TEST(ComparisonTest, ComputesCosineOfAllElements) {
  const Comparison result = compare_values<float>({1, 0}, {1, 1}, {10, 0, 0.8});
  EXPECT_NEAR(result.cosine, std::sqrt(0.5), 1e-12);
  EXPECT_NE(result.failure, "");
}

}  // namespace
}  // namespace vitrine::corpus
