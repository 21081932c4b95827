// The ahead-of-time half of the XNNPACK backend.
#pragma once

#include "aot/lowering/backend.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"

namespace vitrine::aot {

// Writes payloads like ExecuTorch 1.4 (docs/formats/xnnpack_payload.md), with constants as named
// data. The delegate map contains, for each debug handle that the run-time half logs, the handles
// of all nodes that were merged into that node; for kInsertedHandle, the handles of the nodes that
// inserted layout changes serve. Expects graphs of XnnpackPartitioner: AotErrors name a node that
// cannot be translated. Thread-safe.
class XnnpackBackend final : public Backend {
 public:
  std::string id() const override { return vitrine::xnnpack::kBackendId; }
  // The padding is the size of the widest SIMD vector, as in ExecuTorch's memory plans.
  uint64_t input_padding() const override { return 64; }
  PreprocessResult preprocess(ExportedProgram& program,
                              std::span<const CompileSpec> compile_specs) const override;
};

}  // namespace vitrine::aot
