// Detects payloads that lack the scales of their weights.
//
// ExecuTorch's exporter delegates weight-only quantized linear layers, but writes the quantized
// values as floats. Scales and zero points become arguments that the delegate does not use. The
// results are then wrong by the factor of the scales, without an error.
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Returns NotSupported if the weights of a node have probably lost their scales: the graph ignores
// one of its arguments, and all values of these float weights are integers that fit in 8 bits. The
// message names the argument and the node. Call this after the constants were loaded.
Error refuse_unscaled_weights(const Graph& graph);

}  // namespace vitrine::xnnpack
