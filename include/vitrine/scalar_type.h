// ScalarType lists the element types of tensors, numbered as in program files
// (schema/scalar_type.fbs).
#pragma once

#include <cstddef>
#include <cstdint>

#include "vitrine/half.h"

namespace vitrine {

enum class ScalarType : int8_t {
  kByte = 0,
  kChar = 1,
  kShort = 2,
  kInt = 3,
  kLong = 4,
  kHalf = 5,
  kFloat = 6,
  kDouble = 7,
  kComplexHalf = 8,
  kComplexFloat = 9,
  kComplexDouble = 10,
  kBool = 11,
  kQInt8 = 12,
  kQUInt8 = 13,
  kQInt32 = 14,
  kBFloat16 = 15,
  kQUInt4x2 = 16,
  kQUInt2x4 = 17,
  kBits1x8 = 18,
  kBits2x4 = 19,
  kBits4x2 = 20,
  kBits8 = 21,
  kBits16 = 22,
  kFloat8E5M2 = 23,
  kFloat8E4M3FN = 24,
  kFloat8E5M2FNUZ = 25,
  kFloat8E4M3FNUZ = 26,
  kUInt16 = 27,
  kUInt32 = 28,
  kUInt64 = 29,
};
inline constexpr int kNumScalarTypes = 30;

// Bytes per element. 0 for an unknown type, which a file may contain.
size_t element_size(ScalarType type);
// Short name, such as "f32", "i64" or "bool". "?" for an unknown type.
const char* scalar_type_name(ScalarType type);

constexpr bool is_valid(ScalarType type) {
  return static_cast<int8_t>(type) >= 0 && static_cast<int8_t>(type) < kNumScalarTypes;
}
// True for float, double, Half and BFloat16.
constexpr bool is_floating(ScalarType type) {
  return type == ScalarType::kFloat || type == ScalarType::kDouble || type == ScalarType::kHalf ||
         type == ScalarType::kBFloat16;
}
// True for u8, i8, i16, i32 and i64, but not for bool.
constexpr bool is_integral(ScalarType type) {
  return static_cast<int8_t>(type) >= 0 && static_cast<int8_t>(type) <= 4;
}
constexpr bool is_complex(ScalarType type) {
  return type == ScalarType::kComplexHalf || type == ScalarType::kComplexFloat ||
         type == ScalarType::kComplexDouble;
}
// The type of the real part of a complex type. Other types stay the same.
constexpr ScalarType real_type(ScalarType type) {
  return is_complex(type) ? static_cast<ScalarType>(static_cast<int8_t>(type) - 3) : type;
}
static_assert(real_type(ScalarType::kComplexHalf) == ScalarType::kHalf &&
              real_type(ScalarType::kComplexDouble) == ScalarType::kDouble);

template <class T>
inline constexpr ScalarType scalar_type_of = [] {
  static_assert(sizeof(T) == 0, "no ScalarType for this C++ type");
  return ScalarType::kByte;
}();
template <>
inline constexpr ScalarType scalar_type_of<uint8_t> = ScalarType::kByte;
template <>
inline constexpr ScalarType scalar_type_of<int8_t> = ScalarType::kChar;
template <>
inline constexpr ScalarType scalar_type_of<int16_t> = ScalarType::kShort;
template <>
inline constexpr ScalarType scalar_type_of<int32_t> = ScalarType::kInt;
template <>
inline constexpr ScalarType scalar_type_of<int64_t> = ScalarType::kLong;
template <>
inline constexpr ScalarType scalar_type_of<Half> = ScalarType::kHalf;
template <>
inline constexpr ScalarType scalar_type_of<float> = ScalarType::kFloat;
template <>
inline constexpr ScalarType scalar_type_of<double> = ScalarType::kDouble;
template <>
inline constexpr ScalarType scalar_type_of<bool> = ScalarType::kBool;
template <>
inline constexpr ScalarType scalar_type_of<BFloat16> = ScalarType::kBFloat16;
template <>
inline constexpr ScalarType scalar_type_of<uint16_t> = ScalarType::kUInt16;
template <>
inline constexpr ScalarType scalar_type_of<uint32_t> = ScalarType::kUInt32;
template <>
inline constexpr ScalarType scalar_type_of<uint64_t> = ScalarType::kUInt64;

}  // namespace vitrine
