#include "tools/common/output_difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/support/tensor_factory.h"

namespace vitrine::test {
namespace {

using inspector::OutputDifference;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

OutputDifference compare(const std::vector<float>& a, const std::vector<float>& b) {
  TensorFactory factory;
  const auto size = [](const auto& values) { return static_cast<int32_t>(values.size()); };
  return tools::compare_values(factory.value(factory.make<float>({size(a)}, a)),
                               factory.value(factory.make<float>({size(b)}, b)));
}

TEST(OutputDifferenceTest, MatchesTheFormulas) {
  const OutputDifference result = compare({3, 4, 0, 1}, {3, 2, 0.5, 1});
  EXPECT_EQ(result.why_not, "");
  EXPECT_EQ(result.figures.elements, 4u);
  EXPECT_EQ(result.figures.mismatches, 2u);
  EXPECT_DOUBLE_EQ(result.figures.max_abs, 2);
  EXPECT_DOUBLE_EQ(result.figures.mean_abs, 2.5 / 4);
  EXPECT_DOUBLE_EQ(result.figures.sqnr_db, 10 * std::log10(26 / 4.25));
  EXPECT_DOUBLE_EQ(result.figures.cosine, 18 / std::sqrt(26) / std::sqrt(14.25));
}

TEST(OutputDifferenceTest, EqualTensorsHaveInfiniteSqnr) {
  const OutputDifference result = compare({1, -2}, {1, -2});
  EXPECT_EQ(result.figures.mismatches, 0u);
  EXPECT_EQ(result.figures.max_abs, 0);
  EXPECT_TRUE(std::isinf(result.figures.sqnr_db));
  EXPECT_DOUBLE_EQ(result.figures.cosine, 1);
}

TEST(OutputDifferenceTest, NanAndInfinityEqualThemselves) {
  EXPECT_EQ(compare({kNan, kInfinity}, {kNan, kInfinity}).figures.mismatches, 0u);
  EXPECT_EQ(compare({kNan}, {1}).figures.max_abs, kInfinity);
  EXPECT_EQ(compare({kInfinity}, {-kInfinity}).figures.max_abs, kInfinity);
}

TEST(OutputDifferenceTest, ZeroTensorsHaveCosineOne) {
  EXPECT_EQ(compare({0, 0}, {0, 0}).figures.cosine, 1);
  EXPECT_EQ(compare({0, 0}, {0, 1}).figures.cosine, 0);
}

TEST(OutputDifferenceTest, ComparesElementsInLogicalOrder) {
  TensorFactory factory;
  Tensor& rows = factory.make<float>({1, 2, 1, 2}, {1, 2, 3, 4});
  Tensor& channels_last = factory.make<float>({1, 2, 1, 2}, {1, 3, 2, 4}, {0, 2, 3, 1});
  EXPECT_EQ(
      tools::compare_values(factory.value(rows), factory.value(channels_last)).figures.mismatches,
      0u);
}

TEST(OutputDifferenceTest, ComparesDtypesByValue) {
  TensorFactory factory;
  EXPECT_EQ(tools::compare_values(factory.value(factory.make<float>({2}, {1, 2})),
                                  factory.value(factory.make<int32_t>({2}, {1, 2})))
                .figures.mismatches,
            0u);
}

TEST(OutputDifferenceTest, ReportsDifferentShapes) {
  EXPECT_EQ(compare({1, 2}, {1}).why_not, "the shapes differ");
}

}  // namespace
}  // namespace vitrine::test
