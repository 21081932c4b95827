#include "base/serialized_dtypes.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

// The numbers are from the ScalarType enumerations of torch/_export/serde/schema.py and
// exir/serde/schema.py.
TEST(SerializedDtypes, ConvertsInBothDirections) {
  struct Numbers {
    ScalarType dtype;
    int64_t torch_export, exir;
  };
  const Numbers cases[] = {
      {ScalarType::kByte, 1, 1},           {ScalarType::kFloat, 7, 7},
      {ScalarType::kBool, 12, 12},         {ScalarType::kBFloat16, 13, 13},
      {ScalarType::kUInt16, 28, 14},       {ScalarType::kFloat8E5M2, 30, 15},
      {ScalarType::kFloat8E4M3FN, 29, 16}, {ScalarType::kUInt64, 35, 0},
  };
  for (const Numbers& expected : cases) {
    EXPECT_EQ(number_of_dtype(DtypeNumbering::kTorchExport, expected.dtype), expected.torch_export);
    EXPECT_EQ(number_of_dtype(DtypeNumbering::kExir, expected.dtype), expected.exir);
    EXPECT_EQ(dtype_of_number(DtypeNumbering::kTorchExport, expected.torch_export), expected.dtype);
    if (expected.exir != 0) {
      EXPECT_EQ(dtype_of_number(DtypeNumbering::kExir, expected.exir), expected.dtype);
    }
  }
}

TEST(SerializedDtypes, ReturnsNoneForUnknownNumbersAndDtypes) {
  for (const int64_t number : {int64_t{-1}, int64_t{0}, int64_t{14}, int64_t{36}, INT64_MAX}) {
    EXPECT_EQ(dtype_of_number(DtypeNumbering::kTorchExport, number), std::nullopt) << number;
  }
  EXPECT_EQ(dtype_of_number(DtypeNumbering::kExir, 28), std::nullopt);
  EXPECT_EQ(number_of_dtype(DtypeNumbering::kTorchExport, ScalarType::kQInt8), 0);
}

}  // namespace
}  // namespace vitrine
