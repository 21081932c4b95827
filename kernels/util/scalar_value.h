#pragma once

#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/scalar_type.h"

namespace vitrine {

// The slow path of fits().
bool fits_exactly(const Scalar& scalar, ScalarType dtype);
// True if `dtype` can hold the scalar by PyTorch's rules. A number with a fraction can fit an
// integral dtype. Infinity and NaN fit floating dtypes. Every scalar fits Bool and the complex
// dtypes. A negative number fits Byte if it is at least -255.
inline bool fits(const Scalar& scalar, ScalarType dtype) {
  // Every dtype can hold 0 to 127.
  return (!scalar.is_floating() && scalar.to<uint64_t>() <= 127) || fits_exactly(scalar, dtype);
}

// Rounds the scalar if `dtype` is Half or BFloat16.
Scalar rounded(const Scalar& scalar, ScalarType dtype);

void fail_large_scalar(KernelContext& context, const Scalar& scalar, ScalarType dtype,
                       const char* name);
// `name` is the argument's name in the operator's schema.
[[nodiscard]] inline bool check_scalar(KernelContext& context, const Scalar& scalar,
                                       ScalarType dtype, const char* name) {
  if (fits(scalar, dtype)) return true;
  fail_large_scalar(context, scalar, dtype, name);
  return false;
}

}  // namespace vitrine
