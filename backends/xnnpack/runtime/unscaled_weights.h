// Payloads that leave the scales of weights out.
//
// ExecuTorch's exporter takes linear layers whose weights alone are quantised (dequantize_affine of
// a parameter, then linear of floats) and writes the quantised numbers as floats; scales and zero
// points become arguments of the delegate that no value stands for. Results are then wrong by the
// scales, without a word.
#pragma once

#include "backends/xnnpack/runtime/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// NotSupported if the graph leaves an argument unused and multiplies with floats that are all
// numbers of 8 bits, naming both. Constants are loaded.
Error refuse_unscaled_weights(const Graph& graph);

}  // namespace vitrine::xnnpack
