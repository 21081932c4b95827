// Removes pairs of layout changes between convolutions that cancel. Lowering puts a transposition
// and a reshape before and after each convolution over one dim, so that two successive convolutions
// have two reshapes between two transpositions.
#pragma once

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// If a transposition undoes an earlier one of a convolution's result, and only reshapes that cancel
// are between them, its readers read that result instead. Nodes that no output needs any more
// become dead. Call it only if the delegate runs with the declared sizes, which `shapes` has.
Error cancel_layout_changes(Graph& graph, std::span<const Shape> shapes);

}  // namespace vitrine::xnnpack
