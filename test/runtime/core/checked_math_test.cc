#include "runtime/core/checked_math.h"

#include <gtest/gtest.h>

#include <limits>

namespace vitrine {
namespace {

TEST(CheckedMath, AddAndMultiplyReportOverflow) {
  uint64_t sum = 0;
  EXPECT_FALSE(add_overflows(uint64_t{2}, uint64_t{3}, &sum));
  EXPECT_EQ(sum, 5u);
  EXPECT_TRUE(add_overflows(std::numeric_limits<uint64_t>::max(), uint64_t{1}, &sum));
  int64_t product = 0;
  EXPECT_FALSE(mul_overflows(int64_t{1} << 31, int32_t{4}, &product));
  EXPECT_EQ(product, int64_t{1} << 33);
  EXPECT_TRUE(mul_overflows(int64_t{1} << 62, int32_t{2}, &product));
}

TEST(CheckedMath, RejectsRangesThatAreOutOfBoundsOrWrapAround) {
  EXPECT_TRUE(range_fits(0, 10, 10));
  EXPECT_TRUE(range_fits(10, 0, 10));
  EXPECT_FALSE(range_fits(11, 0, 10));
  EXPECT_FALSE(range_fits(1, 10, 10));
  // The end of the range wraps around to 1.
  EXPECT_FALSE(range_fits(2, std::numeric_limits<uint64_t>::max(), 10));
  EXPECT_FALSE(range_fits(std::numeric_limits<uint64_t>::max(), 2, 10));
}

TEST(CheckedMath, RoundUpReturnsMultiplesOfTheAlignment) {
  EXPECT_EQ(round_up(0, 16), 0u);
  EXPECT_EQ(round_up(1, 16), 16u);
  EXPECT_EQ(round_up(16, 16), 16u);
  EXPECT_EQ(round_up(17, 16), 32u);
}

}  // namespace
}  // namespace vitrine
