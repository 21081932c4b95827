// The ahead-of-time half of the demo backend. It supports two patterns:
//
// convolution + relu -> one operator (one identifier for two debug handles)
// tan                -> sin, cos and a division (three identifiers for one debug handle)
#pragma once

#include "aot/lowering/partitioner.h"

namespace demo {

// Writes payloads (format.h). Throws an AotError that names the first unsupported node and the
// reason. Ignores compile specs.
class DemoLowering final : public vitrine::aot::Backend {
 public:
  std::string id() const override;
  vitrine::aot::PreprocessResult preprocess(
      vitrine::aot::ExportedProgram& program,
      std::span<const vitrine::aot::CompileSpec> compile_specs) const override;
};

// Tags the calls that DemoLowering supports, and their weights. Every other call gets a Rejection.
class DemoPartitioner final : public vitrine::aot::Partitioner {
 public:
  vitrine::aot::PartitionResult partition(vitrine::aot::ExportedProgram& program) const override;
};

}  // namespace demo
