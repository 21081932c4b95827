#include "inspector/compare/tensor_difference.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "vitrine/half.h"

namespace vitrine::inspector {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
TensorDifference measure(const std::vector<T>& actual, const std::vector<T>& expected,
                         const Tolerance& tolerance = {}) {
  return measure_difference({scalar_type_of<T>, std::as_bytes(std::span(actual))},
                            {scalar_type_of<T>, std::as_bytes(std::span(expected))}, tolerance);
}

TEST(TensorDifference, MatchesTheFormulas) {
  const TensorDifference d = measure<double>({1, 2, -2}, {1, 4, -2}, {.rtol = 0.5, .atol = 0});
  EXPECT_EQ(d.elements, 3u);
  EXPECT_DOUBLE_EQ(d.max_abs, 2);
  EXPECT_DOUBLE_EQ(d.mean_abs, 2.0 / 3);
  EXPECT_DOUBLE_EQ(d.max_rel, 0.5);
  EXPECT_DOUBLE_EQ(d.sqnr_db, 10 * std::log10(21.0 / 4));
  EXPECT_DOUBLE_EQ(d.cosine, 13 / (3 * std::sqrt(21.0)));
  EXPECT_EQ(d.mismatches, 0u) << "2 is just within 0.5 * 4";
}

TEST(TensorDifference, ReportsTheFirstElementOutOfTolerance) {
  const TensorDifference d =
      measure<float>({0, 1, 5, 6}, {0, 1.5f, 4, 4}, {.rtol = 0, .atol = 0.5});
  EXPECT_EQ(d.mismatches, 2u);
  ASSERT_TRUE(d.first.has_value());
  EXPECT_EQ(d.first->element, 2u);
  EXPECT_EQ(d.first->actual, 5);
  EXPECT_EQ(d.first->expected, 4);
}

TEST(TensorDifference, EqualTensorsHaveInfiniteSqnrAndZeroTensorsHaveCosineZero) {
  const TensorDifference d = measure<float>({0, -0.0f}, {-0.0f, 0});
  EXPECT_EQ(d.sqnr_db, kInfinity);
  EXPECT_EQ(d.cosine, 1);
  EXPECT_EQ(d.mismatches, 0u);
  EXPECT_EQ(measure<float>({}, {}).mismatches, 0u);
  EXPECT_EQ(measure<float>({}, {}).cosine, 1);
  EXPECT_EQ(measure<float>({0, 0}, {1, 0}).cosine, 0);
  EXPECT_DOUBLE_EQ(measure<float>({0, 0}, {1, 0}).sqnr_db, 0);
}

TEST(TensorDifference, NanAndInfinityMatchOnlyThemselves) {
  EXPECT_EQ(measure<double>({kNan, kInfinity}, {kNan, kInfinity}).mismatches, 0u);
  const Tolerance generous{.rtol = 1, .atol = 1e30};
  for (const auto& [a, e] : {std::pair{kNan, 1.0},
                             {1.0, kNan},
                             {kInfinity, -kInfinity},
                             {kInfinity, 1.0},
                             {1.0, kInfinity}}) {
    const TensorDifference d = measure<double>({a}, {e}, generous);
    EXPECT_EQ(d.mismatches, 1u) << a << " " << e;
    EXPECT_EQ(d.max_abs, kInfinity);
  }
}

TEST(TensorDifference, DistinguishesIntegersThatAreEqualAsDoubles) {
  constexpr int64_t kLarge = (int64_t{1} << 60) + 1;
  EXPECT_EQ(measure<int64_t>({kLarge}, {kLarge - 1}).mismatches, 1u);
  EXPECT_EQ(measure<int64_t>({3}, {4}, {.rtol = 0, .atol = 1}).mismatches, 0u);
  EXPECT_EQ(measure<uint8_t>({3}, {4}).mismatches, 1u);
}

TEST(TensorDifference, ComparesDifferentDtypesByValue) {
  const std::vector<float> actual{1, 2.5f, -0.0f};
  const std::vector<int32_t> expected{1, 2, 0};
  const TensorDifference d =
      measure_difference({ScalarType::kFloat, std::as_bytes(std::span(actual))},
                         {ScalarType::kInt, std::as_bytes(std::span(expected))});
  EXPECT_EQ(d.mismatches, 1u);
  EXPECT_EQ(d.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(d.sqnr_db, 10 * std::log10(5 / 0.25));
}

TEST(TensorDifference, InfinitiesAreExcludedFromSignalPower) {
  const TensorDifference d = measure<float>({-INFINITY, 1, 2}, {-INFINITY, 1, 1});
  EXPECT_DOUBLE_EQ(d.sqnr_db, 10 * std::log10(2.0));
  EXPECT_DOUBLE_EQ(d.cosine, 3 / std::sqrt(5) / std::sqrt(2));
}

TEST(TensorDifference, DefaultToleranceIsLargerForNarrowerFloats) {
  EXPECT_EQ(default_tolerance(ScalarType::kInt).atol, 0);
  EXPECT_EQ(default_tolerance(ScalarType::kBool).rtol, 0);
  EXPECT_LT(default_tolerance(ScalarType::kDouble).rtol,
            default_tolerance(ScalarType::kFloat).rtol);
  EXPECT_LT(default_tolerance(ScalarType::kFloat).rtol, default_tolerance(ScalarType::kHalf).rtol);
  EXPECT_EQ(default_tolerance(ScalarType::kComplexFloat).rtol,
            default_tolerance(ScalarType::kFloat).rtol);
  // One unit in the last place of f16 and bf16 must pass.
  EXPECT_EQ(measure<Half>({Half(1.0f)}, {Half(1.0009765625f)}, default_tolerance(ScalarType::kHalf))
                .mismatches,
            0u);
}

TEST(ElementAsDouble, ReadsEveryNumericType) {
  const Half half(1.5f);
  EXPECT_EQ(element_as_double(std::as_bytes(std::span(&half, 1)), ScalarType::kHalf, 0), 1.5);
  const BFloat16 bfloat(-2.0f);
  EXPECT_EQ(element_as_double(std::as_bytes(std::span(&bfloat, 1)), ScalarType::kBFloat16, 0),
            -2.0);
  const std::array<int16_t, 2> shorts{1, -7};
  EXPECT_EQ(element_as_double(std::as_bytes(std::span(shorts)), ScalarType::kShort, 1), -7.0);
}

// The expected figures are measured on the concatenated tensors.
TEST(AddDifference, SumEqualsTheDifferenceOfConcatenatedTensors) {
  const Tolerance tolerance{.rtol = 0, .atol = 0.5};
  TensorDifference all = measure<double>({1, 2, 3.25}, {1, 2.5, 3}, tolerance);
  add_difference(all, measure<double>({0, -7, 2}, {0, -4, -2}, tolerance));
  const TensorDifference joined =
      measure<double>({1, 2, 3.25, 0, -7, 2}, {1, 2.5, 3, 0, -4, -2}, tolerance);
  EXPECT_EQ(all.elements, joined.elements);
  EXPECT_EQ(all.mismatches, joined.mismatches);
  EXPECT_DOUBLE_EQ(all.sqnr_db, joined.sqnr_db);
  EXPECT_DOUBLE_EQ(all.cosine, joined.cosine);
  EXPECT_DOUBLE_EQ(all.mean_abs, joined.mean_abs);
  EXPECT_DOUBLE_EQ(all.max_abs, 4);
  EXPECT_DOUBLE_EQ(all.max_rel, 2);
  EXPECT_EQ(all.max_abs_at, 2u) << "counted in the second tensor";
  ASSERT_TRUE(all.first.has_value());
  EXPECT_EQ(all.first->actual, -7);
}

TEST(AddDifference, EqualTensorsAddNoNoise) {
  TensorDifference all = measure<float>({1, 2}, {1, 2});
  add_difference(all, measure<float>({3}, {3}));
  EXPECT_EQ(all.sqnr_db, kInfinity);
  EXPECT_EQ(all.cosine, 1);
  add_difference(all, measure<float>({5}, {4}));
  EXPECT_DOUBLE_EQ(all.sqnr_db, 10 * std::log10(30.0));
}

}  // namespace
}  // namespace vitrine::inspector
