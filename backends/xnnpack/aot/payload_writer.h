// Writes the graph of a payload as the bytes that a program contains.
#pragma once

#include <vector>

#include "aot/graph/lowered_module.h"
#include "backends/xnnpack/aot/payload_graph.h"

namespace vitrine::aot::xnnpack {

struct Payload {
  std::vector<std::byte> bytes;
  std::vector<NamedData> named_data;  // the bytes of the constants, without duplicates
};

// Writes an XH00 header and an XN01 flatbuffer, without a constant region. Constants become named
// data. The name is the SHA-256 of the bytes, as in ExecuTorch 1.4
// (docs/formats/xnnpack_payload.md).
Payload write_payload(const PayloadGraph& graph);

// Maps the identifiers of payload nodes to the debug handles of their source nodes. The XNNPACK
// delegate logs these identifiers at run time.
DelegateMap delegate_map(const PayloadGraph& graph);

}  // namespace vitrine::aot::xnnpack
