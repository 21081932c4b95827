// Half, BFloat16 and Float, one into the other, by runs.
#pragma once

#include <cstdint>

#include "vitrine/scalar_type.h"

namespace vitrine::optimized::simd {

using Convert = void (*)(const void* from, void* to, int64_t count);

// From elements of `dtype` (Half, BFloat16 or Float) to floats, and back, rounding to nearest, ties
// to even; a NaN stays one. Null for other dtypes.
Convert to_float(ScalarType dtype);
Convert from_float(ScalarType dtype);

}  // namespace vitrine::optimized::simd
