// Translates the graph of a delegate for XNNPACK.
#pragma once

#include "backends/xnnpack/aot/blob_graph.h"
#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {

// After run_passes. Values are in logical order; `arrange_layouts` follows. AotErrors name the node
// that XNNPACK cannot express.
BlobGraph translate(Preprocessing& p);

}  // namespace vitrine::aot::xnnpack
