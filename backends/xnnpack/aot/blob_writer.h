// A payload's graph -> the bytes that a program carries.
#pragma once

#include <vector>

#include "aot/graph/lowered_module.h"
#include "backends/xnnpack/aot/blob_graph.h"

namespace vitrine::aot::xnnpack {

struct Blob {
  std::vector<std::byte> bytes;
  std::vector<NamedData> named_data;  // what the constants hold, each once
};

// XH00 header, XN01 flatbuffer, no constant region: constants are named data, by the SHA-256 of
// their bytes, as ExecuTorch 1.4 writes them (docs/formats/xnnpack_blob.md).
Blob write_blob(const BlobGraph& graph);

// For each identifier that the run-time half logs, all source nodes behind it.
DelegateMap delegate_map(const BlobGraph& graph);

}  // namespace vitrine::aot::xnnpack
