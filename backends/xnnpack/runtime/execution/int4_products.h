// Matrix products of int8 activations and int4 weights with a scale per block, for x86 with
// AVX512-VNNI. XNNPACK's kernels multiply eight inputs at a time and must add two partial sums
// after every block. Vitrine's kernels multiply four inputs at a time.
#pragma once

#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {

inline constexpr size_t kInt4ProductRows = 12;

// Returns the function that computes the products, or null without AVX512-VNNI or XNNPACK's private
// headers. The function reads `depth` values from each row of `input` and writes `rows` (1 to
// kInt4ProductRows) x `columns` floats to `output`. The weights must be packed with nr 16 and kr 4.
// Strides are in bytes. `quantization` has one element per row.
MultiplyInt4 fast_int4_products();

// Makes XNNPACK use these products. Call after XNNPACK is initialized and before other threads use
// it.
void use_fast_int4_products();

}  // namespace vitrine::xnnpack
