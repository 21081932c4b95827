#pragma once

#include <flatbuffers/flatbuffers.h>

#include "backends/xnnpack/aot/payload_graph.h"

namespace vitrine::aot::xnnpack {

// Writes the parameters of a payload's node: everything except its kind, handle and bounds. Returns
// the table's offset, which the caller stores in the union of the XNode table.
flatbuffers::Offset<void> write_members(flatbuffers::FlatBufferBuilder& out,
                                        const PayloadNode& node);

}  // namespace vitrine::aot::xnnpack
