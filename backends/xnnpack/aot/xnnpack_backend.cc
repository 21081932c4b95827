#include "backends/xnnpack/aot/xnnpack_backend.h"

#include "backends/xnnpack/aot/blob_writer.h"
#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/translate.h"

namespace vitrine::aot {

PreprocessResult XnnpackBackend::preprocess(ExportedProgram& program,
                                            std::span<const CompileSpec>) const {
  xnnpack::Preprocessing preprocessing(program);
  xnnpack::run_passes(preprocessing);
  xnnpack::BlobGraph graph = xnnpack::translate(preprocessing);
  xnnpack::arrange_layouts(graph);
  xnnpack::remove_unused(graph);
  xnnpack::Blob blob = xnnpack::write_blob(graph);
  return {std::move(blob.bytes), xnnpack::delegate_map(graph), std::move(blob.named_data)};
}

}  // namespace vitrine::aot
