#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Makes XNNPACK plan all memory again and rebuild the lists and buffers of its operators. Call
// before the runtime is reshaped to `shapes` (indexed by value), with the workspace's mutex held.
// Both supported versions of XNNPACK need this call (ResizingTest,
// FaultWalkTest.ExecutionReportsFailedAllocations):
//
// - XNNPACK plans memory again only if a result or the temporary memory of some operators grows.
//   It does not notice that a global pooling or dynamically quantized images need more memory, or
//   that an operand has become smaller than the result that overwrites the operand.
// - In XNNPACK 4ea82e5, the second output of a node keeps its old shape.
// - Max pooling and resizing keep old pointers to pixels if only the number of channels changes.
// - After a failed allocation, poolings and transposed convolutions may hold a freed buffer, no
//   buffer, or a buffer of the wrong size.
// - A dynamically quantized convolution has a list with one buffer per image of the batch. After a
//   change of the batch size, XNNPACK 4ea82e5 uses and frees the new number of buffers from the old
//   list. XNNPACK 92a7ad5 does so only when it deletes the operator after a failure.
void forget_sizes(xnn_runtime_t runtime, const Graph& graph, std::span<const Shape> shapes);

// Returns NotSupported if the change from `before` to `shapes` would make XNNPACK use outdated
// state. `before` holds the shapes of the last reshape or, if `before_is_load`, the shapes at load.
// Only builds without can_access_runtimes() need this check.
Error refuse_sizes(const Graph& graph, std::span<const Shape> before, bool before_is_load,
                   std::span<const Shape> shapes);

}  // namespace vitrine::xnnpack
