#include "base/serialized_dtypes.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

// As the ScalarType enumerations of torch/_export/serde/schema.py and exir/serde/schema.py say.
TEST(SerializedDtypes, NumbersAreThoseOfTheSchemas) {
  struct Case {
    ScalarType dtype;
    int64_t torch_export, exir;
  };
  const Case cases[] = {
      {ScalarType::kByte, 1, 1},           {ScalarType::kFloat, 7, 7},
      {ScalarType::kBool, 12, 12},         {ScalarType::kBFloat16, 13, 13},
      {ScalarType::kUInt16, 28, 14},       {ScalarType::kFloat8E5M2, 30, 15},
      {ScalarType::kFloat8E4M3FN, 29, 16}, {ScalarType::kUInt64, 35, 0},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(number_of_dtype(DtypeNumbering::kTorchExport, each.dtype), each.torch_export);
    EXPECT_EQ(number_of_dtype(DtypeNumbering::kExir, each.dtype), each.exir);
    EXPECT_EQ(dtype_of_number(DtypeNumbering::kTorchExport, each.torch_export), each.dtype);
    if (each.exir != 0) {
      EXPECT_EQ(dtype_of_number(DtypeNumbering::kExir, each.exir), each.dtype);
    }
  }
}

TEST(SerializedDtypes, OtherNumbersMeanNone) {
  for (const int64_t number : {int64_t{-1}, int64_t{0}, int64_t{14}, int64_t{36}, INT64_MAX}) {
    EXPECT_EQ(dtype_of_number(DtypeNumbering::kTorchExport, number), std::nullopt) << number;
  }
  EXPECT_EQ(dtype_of_number(DtypeNumbering::kExir, 28), std::nullopt);
  EXPECT_EQ(number_of_dtype(DtypeNumbering::kTorchExport, ScalarType::kQInt8), 0);
}

}  // namespace
}  // namespace vitrine
