#pragma once

#include "backends/xnnpack/aot/payload_graph.h"
#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {

// Translates the graph of a delegate to XNNPACK nodes, after run_passes(). The result has logical
// dim order until arrange_layouts() is called. AotErrors name the node that cannot be translated.
PayloadGraph translate(Preprocessing& p);

}  // namespace vitrine::aot::xnnpack
