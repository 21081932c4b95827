// Reads one value of a payload.
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Checks what can be checked without the other values: datatype, rank, sizes, flags, quantization.
// The result points to inline scales in the payload, but has bfloat16 copies of float scales of
// blocks. Constants::load checks the values of all scales.
Result<Value> read_value(const schema::xnnpack::XValue& from, uint32_t external_count);

}  // namespace vitrine::xnnpack
