// Packs int4 weights with a scale per block into the same bytes as XNNPACK, in a quarter of the
// time. Packing takes most of the load time of a language model.
#pragma once

#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {

// Returns the fast function for packing. It calls XNNPACK's function for layouts that the fast code
// does not support. `kernel` has `rows` rows of `columns` int4 values per group, two per byte, the
// first in the low half. `scales` has a bf16 for each `block` columns of a row. `params` is an
// Int4PackingParams. `packed` must be zeroed. Null in builds without XNNPACK's private headers.
PackInt4 fast_int4_packing();

// Makes XNNPACK use the fast function, with PackingThreads. Call after XNNPACK is initialized and
// before other threads use it.
void use_fast_int4_packing();

}  // namespace vitrine::xnnpack
