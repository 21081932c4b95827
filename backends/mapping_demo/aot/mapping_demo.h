// The ahead-of-time half of the mapping demo: a backend small enough to read, which shows how
// delegate debug identifiers lead back to source operators. docs/writing_a_backend.md
//
// convolution + relu -> one operator: one identifier for two debug handles
// tan                -> sin, cos and a division: three identifiers for one debug handle
#pragma once

#include "aot/lowering/partitioner.h"
#include "backends/mapping_demo/format/operators.h"

namespace vitrine::mapping_demo {

// Takes convolution + relu and tan only; AotErrors name the first other node and the reason.
// Payload: docs/formats/mapping_demo_blob.md. Compile specs are not looked at.
class MappingDemo final : public aot::Backend {
 public:
  std::string id() const override { return kBackendId; }
  aot::PreprocessResult preprocess(aot::ExportedProgram& program,
                                   std::span<const aot::CompileSpec> compile_specs) const override;
};

// Tags the calls that MappingDemo supports, with their weights; gives a reason for every other
// call.
class MappingDemoPartitioner final : public aot::Partitioner {
 public:
  aot::PartitionResult partition(aot::ExportedProgram& program) const override;
};

}  // namespace vitrine::mapping_demo
