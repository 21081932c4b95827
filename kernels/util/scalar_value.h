// Scalars that must fit the dtype that they are put into.
#pragma once

#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/scalar_type.h"

namespace vitrine {

// Whether `dtype` can hold the scalar, as PyTorch asks: fractions may be cut off, infinity and NaN
// fit floating dtypes, and a negative number fits an unsigned dtype of which it is the complement.
// Every scalar fits Bool and the complex dtypes.
bool fits(const Scalar& scalar, ScalarType dtype);

// The scalar as a tensor of `dtype` holds it: rounded, for Half and BFloat16.
Scalar rounded(const Scalar& scalar, ScalarType dtype);

bool check_large_scalar(KernelContext& context, const Scalar& scalar, ScalarType dtype,
                        const char* name);
// Fails the context if not. `name` is the argument's name in the operator's schema.
[[nodiscard]] inline bool check_scalar(KernelContext& context, const Scalar& scalar,
                                       ScalarType dtype, const char* name) {
  // Every dtype holds these; alpha is nearly always 1.
  if (!scalar.is_floating() && scalar.to<uint64_t>() <= 127) return true;
  return check_large_scalar(context, scalar, dtype, name);
}

}  // namespace vitrine
