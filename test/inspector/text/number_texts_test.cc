#include "inspector/text/number_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace vitrine::inspector {
namespace {

double last_digit(const Unit& unit) { return unit.ns * std::pow(10, -unit.decimals); }

// 1 us to 100 s.
TEST(NumberTexts, FiguresHaveThreeDigitsOrMore) {
  for (double ns = 1e3; ns < 1e11; ns *= 1.37) {
    const Unit unit = unit_for(ns);
    const std::string text = unit.text(ns);
    EXPECT_GE(std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }), 3) << text;
    EXPECT_NEAR(std::stod(text) * unit.ns, ns, 0.501 * last_digit(unit)) << text;
    EXPECT_EQ(unit.with_name(ns), text + " " + unit.name);
  }
}

// 10 us to 100 s.
TEST(NumberTexts, ColumnsShowAThousandthOfTheWallTime) {
  for (double wall = 1e4; wall < 1e11; wall *= 1.37) {
    EXPECT_LE(last_digit(unit_for_rows(wall)), 1e-3 * wall) << wall;
  }
}

TEST(NumberTexts, CountsAndShares) {
  EXPECT_EQ(percent(0.125), "12.5");
  EXPECT_EQ(percent(1), "100.0");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(2, "row"), "2 rows");
}

TEST(NumberTexts, TheSlowerLimitCounts) {
  const MachineLimits limits = {
      .flops_per_s = 8e9, .bytes_per_s = 2e9, .threads = 1, .machine = {}};
  // 4000 ns of arithmetic and 1000 ns of memory, in 5000 ns; then 6000 ns of memory.
  const double ns = 5000;
  EXPECT_DOUBLE_EQ(
      share_of_limits({.flops = 32e3, .bytes = 2e3, .is_float32 = true}, ns, limits).value(),
      4000 / ns);
  EXPECT_DOUBLE_EQ(
      share_of_limits({.flops = 32e3, .bytes = 12e3, .is_float32 = true}, ns, limits).value(),
      6000 / ns);
  EXPECT_DOUBLE_EQ(share_of_limits({.bytes = 2e3}, ns, limits).value(), 1000 / ns);
}

TEST(NumberTexts, WithoutALimitThereIsNoShare) {
  const Cost cost = {.flops = 1, .bytes = 1, .is_float32 = true};
  const MachineLimits limits = {.flops_per_s = 1, .bytes_per_s = 1, .threads = 1, .machine = {}};
  MachineLimits no_flops = limits, no_bytes = limits;
  no_flops.flops_per_s = 0;
  no_bytes.bytes_per_s = 0;
  EXPECT_TRUE(share_of_limits(cost, 1, limits).has_value());
  EXPECT_FALSE(share_of_limits(cost, 0, limits).has_value());
  EXPECT_FALSE(share_of_limits(cost, 1, no_flops).has_value());
  EXPECT_FALSE(share_of_limits(cost, 1, no_bytes).has_value());
  EXPECT_FALSE(share_of_limits({.flops = 1, .bytes = 1}, 1, limits).has_value()) << "not float32";
}

}  // namespace
}  // namespace vitrine::inspector
