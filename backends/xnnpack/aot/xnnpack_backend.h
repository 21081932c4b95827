// Declares the ahead-of-time half of the XNNPACK backend, which writes payloads.
#pragma once

#include "aot/lowering/backend.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"

namespace vitrine::aot {

// Writes payloads like ExecuTorch 1.4 (docs/formats/xnnpack_payload.md), with constants as named
// data. The run-time half logs a debug handle for each node of the payload. For each of these debug
// handles, the delegate map contains the handles of all nodes that were merged into the payload's
// node. For kInsertedHandle, the map contains the handles of the nodes that need the inserted
// layout changes. Expects graphs that XnnpackPartitioner made. If a node cannot be translated,
// throws an AotError that names the node. Thread-safe.
class XnnpackBackend final : public Backend {
 public:
  std::string id() const override { return vitrine::xnnpack::kBackendId; }
  // Returns the size of the widest SIMD vector in bytes, which is also the padding in ExecuTorch's
  // memory plans.
  uint64_t input_padding() const override { return 64; }
  PreprocessResult preprocess(ExportedProgram& program,
                              std::span<const CompileSpec> compile_specs) const override;
};

}  // namespace vitrine::aot
