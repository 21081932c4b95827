// Packs int4 weights that have a scale per block. Produces the same bytes as XNNPACK in a quarter
// of the time.
#pragma once

#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {

// Returns the fast packing function, or null in builds without XNNPACK's private headers. For
// layouts that it does not support, the fast function calls XNNPACK's function. Both functions have
// these arguments: `kernel` has `rows` rows of `columns` int4 values for each group. Each byte has
// two values, the first in the low four bits. `scales` has a bf16 value for every `block` columns
// of a row. `params` is an Int4PackingParams. `packed` must be zeroed.
PackInt4 fast_int4_packing();

// Makes XNNPACK pack int4 weights with the fast function, which uses the threads of PackingThreads.
// Call this after XNNPACK is initialized and before other threads use XNNPACK.
void use_fast_int4_packing();

}  // namespace vitrine::xnnpack
