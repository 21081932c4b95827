#include "vitrine/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vitrine {
namespace {

TEST(Scalar, ReportsItsKind) {
  EXPECT_EQ(Scalar(int64_t{3}).kind(), Scalar::Kind::kInt);
  EXPECT_TRUE(Scalar(0.5).is_floating());
  EXPECT_TRUE(Scalar(true).is_bool());
  EXPECT_FALSE(Scalar(true).is_floating());
}

TEST(Scalar, ConvertsLikeACast) {
  EXPECT_EQ(Scalar(int64_t{-3}).to<double>(), -3.0);
  EXPECT_EQ(Scalar(2.9).to<int64_t>(), 2);
  EXPECT_EQ(Scalar(-2.9).to<int32_t>(), -2);
  EXPECT_EQ(Scalar(true).to<float>(), 1.0f);
  EXPECT_EQ(Scalar(int64_t{300}).to<uint8_t>(), 44);
  EXPECT_EQ(Scalar(300.0).to<uint8_t>(), 44);
}

TEST(Scalar, DoublesOutsideInt64Saturate) {
  EXPECT_EQ(Scalar(1e300).to<int64_t>(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar(0x1p63).to<int64_t>(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar(-INFINITY).to<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(-0x1p63).to<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(NAN).to<int64_t>(), 0);
}

TEST(Scalar, IsTrueUnlessZero) {
  EXPECT_TRUE(Scalar(0.25).to<bool>());
  EXPECT_TRUE(Scalar(NAN).to<bool>());
  EXPECT_FALSE(Scalar(-0.0).to<bool>());
  EXPECT_TRUE(Scalar(int64_t{256}).to<bool>());
  EXPECT_FALSE(Scalar(false).to<bool>());
}

}  // namespace
}  // namespace vitrine
