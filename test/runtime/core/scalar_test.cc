#include "vitrine/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/core/promotion.h"
#include "vitrine/scalar_type.h"

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

constexpr char kNames[] = "u8 i8 i16 i32 i64 f16 f32 f64 c32 c64 c128 bool bf16";
// Results of torch.promote_types in PyTorch 1.13. Rows and columns are in the order of kNames.
constexpr const char* kTorch[] = {
    "u8 i16 i16 i32 i64 f16 f32 f64 c32 c64 c128 u8 bf16",               // u8
    "i16 i8 i16 i32 i64 f16 f32 f64 c32 c64 c128 i8 bf16",               // i8
    "i16 i16 i16 i32 i64 f16 f32 f64 c32 c64 c128 i16 bf16",             // i16
    "i32 i32 i32 i32 i64 f16 f32 f64 c32 c64 c128 i32 bf16",             // i32
    "i64 i64 i64 i64 i64 f16 f32 f64 c32 c64 c128 i64 bf16",             // i64
    "f16 f16 f16 f16 f16 f16 f32 f64 c32 c64 c128 f16 f32",              // f16
    "f32 f32 f32 f32 f32 f32 f32 f64 c64 c64 c128 f32 f32",              // f32
    "f64 f64 f64 f64 f64 f64 f64 f64 c128 c128 c128 f64 f64",            // f64
    "c32 c32 c32 c32 c32 c32 c64 c128 c32 c64 c128 c32 c64",             // c32
    "c64 c64 c64 c64 c64 c64 c64 c128 c64 c64 c128 c64 c64",             // c64
    "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",  // c128
    "u8 i8 i16 i32 i64 f16 f32 f64 c32 c64 c128 bool bf16",              // bool
    "bf16 bf16 bf16 bf16 bf16 f32 f32 f64 c64 c64 c128 bf16 bf16",       // bf16
};

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

ScalarType named(const std::string& name) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    const auto type = static_cast<ScalarType>(i);
    if (name == scalar_type_name(type)) return type;
  }
  ADD_FAILURE() << name;
  return ScalarType::kByte;
}

TEST(PromoteTypes, MatchesPyTorchForEveryPair) {
  const std::vector<std::string> names = words(kNames);
  ASSERT_EQ(names.size(), std::size(kTorch));
  for (size_t i = 0; i < names.size(); ++i) {
    const std::vector<std::string> row = words(kTorch[i]);
    ASSERT_EQ(row.size(), names.size());
    for (size_t j = 0; j < names.size(); ++j) {
      EXPECT_EQ(promote_types(named(names[i]), named(names[j])), named(row[j]))
          << names[i] << " " << names[j];
    }
  }
}

// In PyTorch 2.3 and later, wide unsigned integers combine only with floating dtypes. The other
// dtypes tested here combine only with themselves.
TEST(PromoteTypes, CombinesWideUnsignedIntegersOnlyWithFloatingDtypes) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    const auto a = static_cast<ScalarType>(i);
    EXPECT_EQ(promote_types(a, a), a);
    if (promotion_category(a) != 0) continue;
    const bool is_wide_unsigned =
        a == ScalarType::kUInt16 || a == ScalarType::kUInt32 || a == ScalarType::kUInt64;
    for (int j = 0; j < kNumScalarTypes; ++j) {
      const auto b = static_cast<ScalarType>(j);
      if (i == j) continue;
      const std::optional<ScalarType> expected =
          is_wide_unsigned && is_floating(b) ? std::optional(b) : std::nullopt;
      EXPECT_EQ(promote_types(a, b), expected) << i << " " << j;
      EXPECT_EQ(promote_types(b, a), expected) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace vitrine
