// Removes layout changes between convolutions if they cancel each other. Lowering puts a
// transposition and a reshape before and after each convolution over one dim, so that two
// successive convolutions have two reshapes between two transpositions.
#pragma once

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// Finds each transposition that undoes an earlier transposition of a convolution's result. Only
// reshapes that cancel each other may be between the two. Nodes that read the result of the second
// transposition then read the convolution's result instead. Nodes that no output needs become dead.
// Call only if the delegate always runs with the declared sizes, which are in `shapes`.
Error cancel_layout_changes(Graph& graph, std::span<const Shape> shapes);

}  // namespace vitrine::xnnpack
