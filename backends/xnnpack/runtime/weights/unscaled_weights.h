// Detects payloads that lack the scales of their weights.
//
// ExecuTorch's exporter delegates weight-only quantized linear layers, but writes the quantized
// values as floats. Scales and zero points become arguments that the delegate does not use. The
// results are then wrong by the factor of the scales, without an error.
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Returns NotSupported if the graph does not use one of its arguments, and has float weights that
// are all 8-bit integers. The message names the argument and the node. Call this after the
// constants were loaded.
Error refuse_unscaled_weights(const Graph& graph);

}  // namespace vitrine::xnnpack
