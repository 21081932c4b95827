// Removes layout changes between convolutions if they cancel each other. Lowering puts a
// transposition and a reshape both before and after each 1-D convolution. So there are four such
// nodes between two successive 1-D convolutions, and these nodes can cancel each other.
#pragma once

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// Bypasses pairs of transpositions in which the second undoes the first. The first transposition
// must read the result of a convolution. Between the two transpositions, only reshapes that cancel
// each other are allowed. After the call, nodes that read the result of the second transposition
// read the convolution's result instead, and nodes that no output needs are dead. Call only if the
// delegate always runs with the declared sizes, which `shapes` contains.
Error cancel_layout_changes(Graph& graph, std::span<const Shape> shapes);

}  // namespace vitrine::xnnpack
