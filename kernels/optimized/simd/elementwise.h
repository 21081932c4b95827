#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// Sets out[i] = op(inputs[0][i], inputs[1][i], ...) for i < count. `out` may be one of the inputs.
// `parameters` has at least three numbers. It is null for operators without parameters. If the
// second input of a BINARY operator is null, parameters[kNumberParameter] replaces its elements.
// Comparisons write the bytes 0 and 1. The first input of `where` consists of bytes. `total_count`
// is the number of elements of the entire result, which several calls may compute. If `total_count`
// is large, stores may bypass the cache.
constexpr int kNumberParameter = 1;
using Run = void (*)(const void* const* inputs, const float* parameters, void* out, int64_t count,
                     int64_t total_count);

// Each function returns the implementation for this machine's instruction set.
#define UNARY(name, formula) Run name();
#define BINARY(name, formula) Run name();
#define COMPARE(name, formula) Run name();
#define TERNARY(name, formula) Run name();
#include "kernels/optimized/simd/elementwise_list.inc"
#undef UNARY
#undef BINARY
#undef COMPARE
#undef TERNARY
Run where();

}  // namespace vitrine::optimized::simd
