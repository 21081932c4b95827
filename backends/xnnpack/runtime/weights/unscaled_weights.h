// Detects payloads that lack the scales of their weights. ExecuTorch's exporter delegates
// weight-only quantized linear layers, but writes the quantized values as floats. Their scales and
// zero points become unused arguments. The delegate would return unscaled results and no error.
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Returns NotSupported if a node has probably lost the scales of its weights: the graph has an
// unused argument, and the node's float weights are all integers that fit in 8 bits. Weights of
// only 0, 1 and -1 are accepted. The message names the node and the argument. Call after the
// constants are loaded.
Error refuse_unscaled_weights(const Graph& graph);

}  // namespace vitrine::xnnpack
