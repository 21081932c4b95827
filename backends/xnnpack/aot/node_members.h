// What a payload holds of a node besides its kind, handle and bounds.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include "backends/xnnpack/aot/blob_graph.h"

namespace vitrine::aot::xnnpack {

// The table that XNode's union holds for nodes of that kind.
flatbuffers::Offset<void> write_members(flatbuffers::FlatBufferBuilder& out, const BlobNode& node);

}  // namespace vitrine::aot::xnnpack
