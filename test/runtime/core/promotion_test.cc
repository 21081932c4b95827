#include "runtime/core/promotion.h"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace vitrine {
namespace {

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
