#pragma once

#include <vector>

#include "aot/graph/lowered_module.h"
#include "backends/xnnpack/aot/payload_graph.h"

namespace vitrine::aot::xnnpack {

struct Payload {
  std::vector<std::byte> bytes;
  std::vector<NamedData> named_data;  // bytes of the constants, without duplicates
};

// Writes an XH00 header and an XN01 flatbuffer, without a constant region. Constants become named
// data, named by their SHA-256 (docs/formats/xnnpack_payload.md).
Payload write_payload(const PayloadGraph& graph);

// Maps the identifiers of payload nodes, which the delegate logs, to debug handles.
DelegateMap delegate_map(const PayloadGraph& graph);

}  // namespace vitrine::aot::xnnpack
