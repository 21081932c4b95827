// Element-wise operators on dense runs of floats.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// out[i] = op(inputs[0][i], ...) for i < count. `parameters` are the operator's own, three at
// least, or null for operators without. Comparisons write bytes 0 and 1; `where` reads bytes as its
// first input. The output may be an input. `whole` is the number of elements of all runs together
// that make one result.
using Run = void (*)(const void* const* inputs, const float* parameters, void* out, int64_t count,
                     int64_t whole);

// One function an operator, each gives the run of this machine's instruction set.
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
