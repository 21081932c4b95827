// Removes layout changes between convolutions. Lowering puts a transposition and a reshape before
// and after each 1-D convolution, and the changes between two convolutions may cancel each other.
#pragma once

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// Bypasses pairs of transpositions that cancel each other, if the first reads a convolution's
// result and only reshapes that cancel each other are in between. Nodes that no output needs become
// dead. Call only if the delegate always runs with the declared sizes, which `shapes` contains.
Error cancel_layout_changes(Graph& graph, std::span<const Shape> shapes);

}  // namespace vitrine::xnnpack
