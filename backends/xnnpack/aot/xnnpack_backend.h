// Declares the ahead-of-time half of the XNNPACK backend, which writes payloads.
#pragma once

#include "aot/lowering/backend.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"

namespace vitrine::aot {

// Writes payloads like ExecuTorch 1.4 (docs/formats/xnnpack_payload.md), with constants as named
// data. Expects graphs that XnnpackPartitioner made. If a node cannot be translated, throws an
// AotError that names the node. Thread-safe.
//
// The run-time half logs one debug handle for each payload node. The delegate map lists, for each
// of these handles, the handles of all source nodes that were merged into the payload node. For
// kInsertedHandle, the map lists the handles of the nodes that need the inserted layout changes.
class XnnpackBackend final : public Backend {
 public:
  std::string id() const override { return vitrine::xnnpack::kBackendId; }
  // Returns the size in bytes of the widest SIMD vectors. Delegates may read this many bytes past
  // the end of an input, so memory plans reserve them, as in ExecuTorch.
  uint64_t input_padding() const override { return 64; }
  PreprocessResult preprocess(ExportedProgram& program,
                              std::span<const CompileSpec> compile_specs) const override;
};

}  // namespace vitrine::aot
