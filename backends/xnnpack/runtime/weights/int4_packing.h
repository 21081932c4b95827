// Packs int4 weights that have a scale per block. Produces the same bytes as XNNPACK in a quarter
// of the time. Packing takes most of the load time of a language model.
#pragma once

#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {

// Returns the fast function for packing. It calls XNNPACK's function for layouts that the fast code
// does not support. The argument `kernel` has, per group, `rows` rows of `columns` int4 values. A
// byte has two values, the first in its low half. `scales` has a bf16 value for every `block`
// columns of a row. `params` is an Int4PackingParams. `packed` must be zeroed. Null in builds
// without XNNPACK's private headers.
PackInt4 fast_int4_packing();

// Makes XNNPACK pack int4 weights with the fast function, which uses the threads of PackingThreads.
// Call this after XNNPACK is initialized and before other threads use XNNPACK.
void use_fast_int4_packing();

}  // namespace vitrine::xnnpack
