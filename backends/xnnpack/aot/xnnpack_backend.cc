#include "backends/xnnpack/aot/xnnpack_backend.h"

#include "backends/xnnpack/aot/payload_writer.h"
#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/translate.h"

namespace vitrine::aot {

PreprocessResult XnnpackBackend::preprocess(ExportedProgram& program,
                                            std::span<const CompileSpec>) const {
  xnnpack::Preprocessing preprocessing(program);
  xnnpack::run_passes(preprocessing);
  xnnpack::PayloadGraph graph = xnnpack::translate(preprocessing);
  xnnpack::arrange_layouts(graph);
  xnnpack::remove_unused(graph);
  xnnpack::Payload payload = xnnpack::write_payload(graph);
  return {std::move(payload.bytes), xnnpack::delegate_map(graph), std::move(payload.named_data)};
}

}  // namespace vitrine::aot
