#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Reads a value and checks its datatype, rank, sizes, flags and quantization, but nothing that
// depends on other values. The result points to inline scales in the payload, except that float
// scales of blocks are rounded to Value::rounded_scales. Constants::load checks that the scales are
// positive and normal.
Result<Value> read_value(const schema::xnnpack::XValue& from, uint32_t external_count);

}  // namespace vitrine::xnnpack
