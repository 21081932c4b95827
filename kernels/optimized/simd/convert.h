#pragma once

#include <cstdint>

#include "vitrine/scalar_type.h"

namespace vitrine::optimized::simd {

using Convert = void (*)(const void* from, void* to, int64_t count);

// to_float() returns the function that converts elements of `dtype` (Half, BFloat16 or Float) to
// floats. from_float() returns the inverse function, which rounds to nearest, ties to even. NaN
// stays NaN. Both return null for other dtypes.
Convert to_float(ScalarType dtype);
Convert from_float(ScalarType dtype);

}  // namespace vitrine::optimized::simd
