#include "base/text/number_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace vitrine::inspector {
namespace {

double last_digit(const Unit& unit) { return unit.ns * std::pow(10, -unit.decimals); }

// Times range from 1 us to 100 s.
TEST(NumberTexts, ChoosesUnitsThatShowThreeDigits) {
  for (double ns = 1e3; ns < 1e11; ns *= 1.37) {
    const Unit unit = unit_for(ns);
    const std::string text = unit.text(ns);
    EXPECT_GE(std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }), 3) << text;
    EXPECT_NEAR(std::stod(text) * unit.ns, ns, 0.501 * last_digit(unit)) << text;
    EXPECT_EQ(unit.with_name(ns), text + " " + unit.name);
  }
}

// Wall times range from 10 us to 100 s.
TEST(NumberTexts, RowTimesArePreciseToAThousandthOfTheWallTime) {
  for (double wall = 1e4; wall < 1e11; wall *= 1.37) {
    EXPECT_LE(last_digit(unit_for_rows(wall)), 1e-3 * wall) << wall;
  }
}

TEST(NumberTexts, FormatsCountsAndPercentages) {
  EXPECT_EQ(percent(0.125), "12.5");
  EXPECT_EQ(percent(1), "100.0");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(2, "row"), "2 rows");
}

}  // namespace
}  // namespace vitrine::inspector
