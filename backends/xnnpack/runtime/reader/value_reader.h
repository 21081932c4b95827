// Reads one value of a payload.
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Checks what can be checked without the other values: datatype, rank, sizes, flags, quantization.
// Inline scales point into the payload, except that float scales of blocks are copied as bfloat16.
// Constants::load checks the values of all scales.
Result<Value> read_value(const schema::xnnpack::XValue& from, uint32_t external_count);

}  // namespace vitrine::xnnpack
