// Packs int4 weights with a scale per block. The packed bytes are the same as XNNPACK's, but
// packing takes a quarter of the time.
#pragma once

#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {

// Returns the fast packing function, or null without XNNPACK's private headers. The fast function
// calls XNNPACK's function for layouts that it does not support. Arguments: `kernel` has `rows`
// rows of `columns` int4 values for each group, two per byte, the first in the low four bits.
// `scales` has a bf16 value for every `block` columns of a row. `params` is an Int4PackingParams.
// `packed` must be zeroed.
PackInt4 fast_int4_packing();

// Makes XNNPACK pack int4 weights with the fast function and the threads of PackingThreads. Call
// after XNNPACK is initialized and before other threads use it.
void use_fast_int4_packing();

}  // namespace vitrine::xnnpack
