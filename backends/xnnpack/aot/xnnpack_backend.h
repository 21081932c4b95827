#pragma once

#include "aot/lowering/backend.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"

namespace vitrine::aot {

// Writes payloads like ExecuTorch 1.4 (docs/formats/xnnpack_payload.md), with constants as named
// data. Expects graphs that XnnpackPartitioner made. An AotError names the node that cannot be
// translated. Thread-safe.
//
// The run-time half logs one debug handle per payload node. For each logged handle, the delegate
// map lists the debug handles of all source nodes of the payload node. For kInsertedHandle, the map
// lists the debug handles of the nodes that need the inserted layout changes.
class XnnpackBackend final : public Backend {
 public:
  std::string id() const override { return vitrine::xnnpack::kBackendId; }
  // Returns the size in bytes of the widest SIMD vectors. Delegates may read this many bytes past
  // the end of an input, so memory plans reserve them.
  uint64_t input_padding() const override { return 64; }
  PreprocessResult preprocess(ExportedProgram& program,
                              std::span<const CompileSpec> compile_specs) const override;
};

}  // namespace vitrine::aot
