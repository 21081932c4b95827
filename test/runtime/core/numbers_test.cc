#include "vitrine/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/core/promotion.h"
#include "vitrine/scalar.h"
#include "vitrine/scalar_type.h"

namespace vitrine {
namespace {

// A binary floating-point format. `precision` is the number of significand bits, including the
// leading one. 2^max_exponent is the largest power of two, and 2^min_exponent is the smallest
// normal number.
struct Format {
  int precision;
  int min_exponent;
  int max_exponent;
};
constexpr Format kHalf{11, -14, 15};
constexpr Format kBFloat16{8, -126, 127};

// Rounds `value` to the nearest value of `format`, ties to even. Calculates from the definition of
// the format instead of from bit patterns. The arithmetic is exact in double.
double rounded(double value, const Format& format) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const double unit = std::ldexp(1.0, exponent - format.precision + 1);
  const double result = std::nearbyint(value / unit) * unit;  // the default mode ties to even
  const double limit = std::ldexp(2.0, format.max_exponent);
  return std::fabs(result) >= limit ? std::copysign(INFINITY, value) : result;
}

template <class T>
void expect_rounds(float value, const Format& format) {
  const float actual = T(value);
  const double expected = rounded(value, format);
  ASSERT_EQ(static_cast<double>(actual), expected) << std::hexfloat << value;
  ASSERT_EQ(std::signbit(actual), std::signbit(value)) << std::hexfloat << value;
}

template <class T>
T from_bits(uint32_t bits) {
  T value;
  value.bits = static_cast<uint16_t>(bits);
  return value;
}

TEST(Half, EveryBitPatternHasTheValueThatTheFormatDefines) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float actual = from_bits<Half>(bits);
    const int exponent = static_cast<int>((bits >> 10) & 31);
    const int mantissa = static_cast<int>(bits & 1023);
    if (exponent == 31 && mantissa != 0) {
      ASSERT_TRUE(std::isnan(actual)) << bits;
      continue;
    }
    const double magnitude = exponent == 31  ? INFINITY
                             : exponent == 0 ? std::ldexp(mantissa, -24)
                                             : std::ldexp(1024 + mantissa, exponent - 25);
    const double expected = bits >= 32768 ? -magnitude : magnitude;
    ASSERT_EQ(static_cast<double>(actual), expected) << bits;
    ASSERT_EQ(std::signbit(actual), bits >= 32768) << bits;
  }
}

TEST(Half, EveryValueSurvivesARoundTrip) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = from_bits<Half>(bits);
    const Half back(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      ASSERT_EQ(back.bits, bits);
    }
  }
}

// Tests the midpoint between each pair of neighbors, and the next float on each side of it.
TEST(Half, RoundsTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = from_bits<Half>(bits);
    const float high = from_bits<Half>(bits + 1);
    const float tie = (low + high) / 2;  // exact in float
    ASSERT_EQ(Half(tie).bits, bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(Half(std::nextafter(tie, 0.0f)).bits, bits) << bits;
    ASSERT_EQ(Half(std::nextafter(tie, INFINITY)).bits, bits + 1) << bits;
    ASSERT_EQ(Half(-tie).bits, Half(tie).bits | 0x8000u) << bits;
  }
}

TEST(Half, RoundsToInfinityFromHalfAUnitAboveTheLargestValue) {
  EXPECT_EQ(Half(65504.0f).bits, 0x7bffu);
  EXPECT_EQ(Half(std::nextafter(65520.0f, 0.0f)).bits, 0x7bffu);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00u);
  EXPECT_EQ(Half(-65520.0f).bits, 0xfc00u);
  EXPECT_EQ(Half(std::numeric_limits<float>::max()).bits, 0x7c00u);
  EXPECT_EQ(Half(INFINITY).bits, 0x7c00u);
}

TEST(Half, UnderflowsToSignedZero) {
  EXPECT_EQ(Half(0x1p-25f).bits, 0u);  // the tie below the smallest subnormal
  EXPECT_EQ(Half(std::nextafter(0x1p-25f, 1.0f)).bits, 1u);
  EXPECT_EQ(Half(-0x1p-30f).bits, 0x8000u);
  EXPECT_EQ(Half(std::numeric_limits<float>::denorm_min()).bits, 0u);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000u);
}

TEST(Half, NanStaysNan) {
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(NAN))));
  // The only nonzero significand bit of this NaN is below the bits that Half keeps.
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::bit_cast<float>(0x7f800001u)))));
}

TEST(Half, RandomFloatsAreRoundedToNearestEven) {
  std::mt19937 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(value)) expect_rounds<Half>(value, kHalf);
    // Most random bit patterns are out of Half's range. The scaled integers are mostly in range.
    expect_rounds<Half>(std::ldexp(static_cast<float>(random()), -static_cast<int>(i % 64)), kHalf);
  }
}

TEST(BFloat16, EveryValueSurvivesARoundTrip) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = from_bits<BFloat16>(bits);
    ASSERT_EQ(std::bit_cast<uint32_t>(value), bits << 16);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(BFloat16(value)))) << bits;
    } else {
      ASSERT_EQ(BFloat16(value).bits, bits);
    }
  }
}

TEST(BFloat16, RandomFloatsAreRoundedToNearestEven) {
  std::mt19937 random(2);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(value)) expect_rounds<BFloat16>(value, kBFloat16);
  }
}

TEST(BFloat16, RoundsTiesToEvenAndHandlesOverflowAndNan) {
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits, 0x3f80u);  // tie, down to even
  EXPECT_EQ(BFloat16(1.0f + 0x3p-8f).bits, 0x3f82u);  // tie, up to even
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80u);
  EXPECT_EQ(BFloat16(-INFINITY).bits, 0xff80u);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0xffffffffu)))));
}

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

// A dtype of category 0 combines only with itself, with one exception: as in PyTorch 2.3 and later,
// uint16, uint32 and uint64 also combine with floating dtypes.
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
