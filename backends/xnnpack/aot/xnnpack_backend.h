// The ahead-of-time half of the XNNPACK backend.
#pragma once

#include "aot/lowering/backend.h"
#include "backends/xnnpack/format/identifiers.h"

namespace vitrine::aot {

// Payloads are what ExecuTorch 1.4 writes (docs/formats/xnnpack_blob.md); constants are named data.
// The delegate map has, for each debug handle that the run-time half logs, the handles of all
// nodes that became one with that node; for kInsertedHandle, of those that inserted layout changes
// serve. Takes graphs that XnnpackPartitioner made; what XNNPACK cannot express is an
// AotError that names the node. Thread-safe.
class XnnpackBackend final : public Backend {
 public:
  std::string id() const override { return vitrine::xnnpack::kBackendId; }
  // A vector of the widest instruction set, as in ExecuTorch's memory plans.
  uint64_t input_padding() const override { return 64; }
  PreprocessResult preprocess(ExportedProgram& program,
                              std::span<const CompileSpec> compile_specs) const override;
};

}  // namespace vitrine::aot
