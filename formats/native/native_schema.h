// Constants of ExecuTorch Native's flatbuffer schema (docs/formats/native.md), which the readers of
// models and of delegate payloads share.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "vitrine/scalar_type.h"

namespace vitrine::native {

enum class ArgumentKind : uint8_t {
  kTensor = 1,
  kNone = 2,
  kInt = 3,
  kFloat = 4,
  kBool = 5,
  kString = 6,
  kDtype = 7,
  kIntList = 8,
  kFloatList = 9,
  kBoolList = 10,
  kTensorList = 11,
  kOptionalTensorList = 12,
  kGraph = 13,
};

// The numbers of dtypes in the schema. Program files use the same numbers up to 15, but other
// numbers above 15.
inline constexpr std::pair<int64_t, ScalarType> kDtypes[] = {
    {0, ScalarType::kByte},      {1, ScalarType::kChar},    {2, ScalarType::kShort},
    {3, ScalarType::kInt},       {4, ScalarType::kLong},    {5, ScalarType::kHalf},
    {6, ScalarType::kFloat},     {7, ScalarType::kDouble},  {11, ScalarType::kBool},
    {15, ScalarType::kBFloat16}, {16, ScalarType::kUInt16}, {17, ScalarType::kUInt32},
    {18, ScalarType::kUInt64}};

constexpr std::optional<ScalarType> native_dtype(int64_t number) {
  for (const auto& [known, dtype] : kDtypes) {
    if (known == number) return dtype;
  }
  return std::nullopt;
}

}  // namespace vitrine::native
