// Computes matrix products on x86 with AVX512-VNNI: int8 activations times int4 weights that have a
// scale per block. These kernels multiply four inputs per column at a time. XNNPACK's kernels
// multiply eight inputs, and therefore must add two partial sums per column after every block.
#pragma once

#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {

inline constexpr size_t kInt4ProductRows = 12;

// Returns the function that computes the products. Returns null if the processor lacks AVX512-VNNI
// or the build lacks XNNPACK's private headers. The function reads `depth` values from each row of
// `input` and writes `rows` (1 to kInt4ProductRows) x `columns` floats to `output`. The weights
// must be packed with nr 16 and kr 4. Strides are in bytes. `quantization` has one element per row.
MultiplyInt4 fast_int4_products();

// Makes XNNPACK use these products. Call after XNNPACK is initialized and before other threads use
// it.
void use_fast_int4_products();

}  // namespace vitrine::xnnpack
