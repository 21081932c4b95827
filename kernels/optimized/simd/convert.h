#pragma once

#include <cstdint>

#include "vitrine/scalar_type.h"

namespace vitrine::optimized::simd {

using Convert = void (*)(const void* from, void* to, int64_t count);

// These functions convert between floats and elements of `dtype` (Half, BFloat16 or Float). The
// result is null for other dtypes. from_float() rounds to nearest, ties to even. NaN stays NaN.
Convert to_float(ScalarType dtype);
Convert from_float(ScalarType dtype);

}  // namespace vitrine::optimized::simd
