#include "aot/passes/linear_sum.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace vitrine::aot {
namespace {

LinearSum sum_of(int64_t constant, std::map<std::string, int64_t> terms) {
  LinearSum sum;
  sum.constant = constant;
  sum.terms = std::move(terms);
  return sum;
}

// (2 + 3 x - y) + 2 (1 + y) = 4 + 3 x + y. Subtracting 3 x removes the term x.
TEST(LinearSum, AddsMultiplesOfAnotherSum) {
  const LinearSum a = sum_of(2, {{"x", 3}, {"y", -1}});
  const auto sum = combined(a, sum_of(1, {{"y", 1}}), 2);
  EXPECT_EQ(sum, sum_of(4, {{"x", 3}, {"y", 1}}));
  EXPECT_EQ(combined(*sum, sum_of(0, {{"x", 1}}), -3), sum_of(4, {{"y", 1}}));
}

TEST(LinearSum, SumWithNumbersThatAreTooLargeIsUnknown) {
  constexpr int64_t kMax = int64_t{1} << 31;
  EXPECT_TRUE(combined(sum_of(kMax - 1, {}), sum_of(1, {}), 1).has_value());
  EXPECT_FALSE(combined(sum_of(kMax, {}), sum_of(1, {}), 1).has_value());
  EXPECT_FALSE(combined({}, sum_of(0, {{"x", kMax}}), 2).has_value());
  EXPECT_FALSE(combined({}, sum_of(1, {}), kMax + 1).has_value());
}

TEST(LinearSum, SumWithTooManyTermsIsUnknown) {
  std::optional<LinearSum> sum = LinearSum();
  int terms = 0;
  while (sum.has_value() && terms < 1000) {
    sum = combined(*sum, sum_of(0, {{"s" + std::to_string(terms++), 1}}), 1);
  }
  EXPECT_FALSE(sum.has_value());
  EXPECT_GT(terms, 8) << "positions and masks need several terms";
}

// Substitutes (axis 1) + 5 for (axis 0) in the sum x + 2 (axis 0) + (axis 1).
TEST(LinearSum, SubstitutesASumForAnAxis) {
  const LinearSum sum = sum_of(0, {{"x", 1}, {"axis 0", 2}, {"axis 1", 1}});
  EXPECT_TRUE(sum.has_axes());
  EXPECT_FALSE(sum_of(0, {{"x", 1}}).has_axes());
  const auto moved = with_axes(sum, [](size_t axis) {
    return axis == 0 ? combined(LinearSum::axis(1), sum_of(5, {}), 1)
                     : std::optional(LinearSum::axis(axis));
  });
  EXPECT_EQ(moved, sum_of(10, {{"x", 1}, {"axis 1", 3}}));
  EXPECT_FALSE(with_axes(sum, [](size_t) { return std::optional<LinearSum>(); }).has_value());
}

}  // namespace
}  // namespace vitrine::aot
