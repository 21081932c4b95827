// Defines values for XNNPACK, one way for each kind of quantisation.
#pragma once

#include <xnnpack.h>

#include <cstdint>

#include "backends/xnnpack/runtime/graph.h"

namespace vitrine::xnnpack {

// `external_id` and `flags` are given apart from `value`'s own, for trial definitions.
xnn_status define_value(xnn_subgraph_t subgraph, const Value& value, const Shape& shape,
                        uint32_t external_id, uint32_t flags, uint32_t* id);

}  // namespace vitrine::xnnpack
