#include "vitrine/scalar_type.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

TEST(ScalarType, HasSizesAndNames) {
  EXPECT_EQ(element_size(ScalarType::kFloat), 4u);
  EXPECT_EQ(element_size(ScalarType::kHalf), 2u);
  EXPECT_EQ(element_size(ScalarType::kBool), 1u);
  EXPECT_EQ(element_size(ScalarType::kComplexDouble), 16u);
  EXPECT_EQ(element_size(ScalarType::kUInt64), 8u);
  EXPECT_STREQ(scalar_type_name(ScalarType::kBFloat16), "bf16");
  EXPECT_STREQ(scalar_type_name(ScalarType::kLong), "i64");
  EXPECT_STREQ(scalar_type_name(ScalarType::kUInt32), "u32");
}

TEST(ScalarType, UnknownDtypesHaveSizeZero) {
  for (const int number : {-128, -1, 30, 127}) {
    const auto type = static_cast<ScalarType>(number);
    EXPECT_FALSE(is_valid(type)) << number;
    EXPECT_EQ(element_size(type), 0u) << number;
    EXPECT_STREQ(scalar_type_name(type), "?") << number;
  }
}

TEST(ScalarType, EveryKnownDtypeHasASize) {
  for (int number = 0; number < kNumScalarTypes; ++number) {
    EXPECT_GT(element_size(static_cast<ScalarType>(number)), 0u) << number;
  }
}

TEST(ScalarType, ClassifiesTypesAndMapsCppTypes) {
  EXPECT_TRUE(is_floating(ScalarType::kBFloat16));
  EXPECT_FALSE(is_floating(ScalarType::kComplexFloat));
  EXPECT_TRUE(is_integral(ScalarType::kByte));
  EXPECT_FALSE(is_integral(ScalarType::kBool));
  EXPECT_FALSE(is_integral(ScalarType::kHalf));
  EXPECT_TRUE(is_complex(ScalarType::kComplexHalf));
  EXPECT_EQ(scalar_type_of<int16_t>, ScalarType::kShort);
  EXPECT_EQ(scalar_type_of<bool>, ScalarType::kBool);
  EXPECT_EQ(sizeof(Half), element_size(scalar_type_of<Half>));
}

}  // namespace
}  // namespace vitrine
