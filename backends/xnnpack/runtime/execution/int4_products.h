// Computes matrix products of int8 activations and int4 weights with a scale per block on x86 with
// AVX512-VNNI. These products handle four inputs at a time. XNNPACK's kernels handle eight, so they
// must add the two halves of each sum after every block.
#pragma once

#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {

inline constexpr size_t kInt4ProductRows = 12;

// Returns the function that computes the products. It writes `rows` (1 to kInt4ProductRows) x
// `columns` floats to `output`, from `depth` values of each row of `input`. The weights are packed
// for nr 16 and kr 4. Strides are in bytes. `quantization` has an element for each row. Returns
// null if the processor lacks AVX512-VNNI or the build lacks XNNPACK's private headers.
MultiplyInt4 fast_int4_products();

// Makes XNNPACK use these products. Call after XNNPACK is initialized and before other threads use
// it.
void use_fast_int4_products();

}  // namespace vitrine::xnnpack
