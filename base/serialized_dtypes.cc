#include "base/serialized_dtypes.h"

#include <algorithm>
#include <iterator>

namespace vitrine {
namespace {

struct DtypeNumbers {
  ScalarType dtype;
  int64_t torch_export;
  int64_t exir;  // 0 if the dtype has no number
};
constexpr DtypeNumbers kDtypeNumbers[] = {
    {ScalarType::kByte, 1, 1},
    {ScalarType::kChar, 2, 2},
    {ScalarType::kShort, 3, 3},
    {ScalarType::kInt, 4, 4},
    {ScalarType::kLong, 5, 5},
    {ScalarType::kHalf, 6, 6},
    {ScalarType::kFloat, 7, 7},
    {ScalarType::kDouble, 8, 8},
    {ScalarType::kComplexHalf, 9, 9},
    {ScalarType::kComplexFloat, 10, 10},
    {ScalarType::kComplexDouble, 11, 11},
    {ScalarType::kBool, 12, 12},
    {ScalarType::kBFloat16, 13, 13},
    {ScalarType::kUInt16, 28, 14},
    {ScalarType::kFloat8E4M3FN, 29, 16},
    {ScalarType::kFloat8E5M2, 30, 15},
    {ScalarType::kFloat8E4M3FNUZ, 31, 0},
    {ScalarType::kFloat8E5M2FNUZ, 32, 0},
    {ScalarType::kUInt32, 34, 0},
    {ScalarType::kUInt64, 35, 0},
};

int64_t number(const DtypeNumbers& numbers, DtypeNumbering numbering) {
  return numbering == DtypeNumbering::kExir ? numbers.exir : numbers.torch_export;
}

}  // namespace

std::optional<ScalarType> dtype_of_number(DtypeNumbering numbering, int64_t wanted) {
  const auto* found = std::ranges::find(
      kDtypeNumbers, wanted, [&](const DtypeNumbers& row) { return number(row, numbering); });
  if (wanted == 0 || found == std::end(kDtypeNumbers)) return std::nullopt;
  return found->dtype;
}

int64_t number_of_dtype(DtypeNumbering numbering, ScalarType dtype) {
  const auto* found = std::ranges::find(kDtypeNumbers, dtype, &DtypeNumbers::dtype);
  return found == std::end(kDtypeNumbers) ? 0 : number(*found, numbering);
}

}  // namespace vitrine
