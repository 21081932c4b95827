// Reads one value of a blob.
#pragma once

#include "backends/xnnpack/runtime/graph.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Checks what can be checked without the other values: datatype, rank, sizes, flags, quantisation.
// Inline scales are copied; scales in constants are checked by load_constants.
Result<Value> read_value(const schema::xnnpack::XValue& from, uint32_t external_count);

}  // namespace vitrine::xnnpack
