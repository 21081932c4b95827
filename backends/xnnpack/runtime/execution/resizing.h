// Makes XNNPACK discard the state that becomes wrong when sizes change.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Makes XNNPACK plan all memory again and rebuild the lists and buffers of its operators. Call
// before the runtime is reshaped to `shapes` (indexed by value), with the workspace's mutex held.
// Both supported versions of XNNPACK need this call (ResizingTest,
// FaultWalkTest.ExecutionReportsFailedAllocations). Without the call:
//
// - XNNPACK plans memory again only if the result of an operator grows, or if the temporary memory
//   of some operators grows. XNNPACK does not notice that the sums of a global pooling or the
//   quantization parameters of dynamically quantized images need more memory. It also does not
//   notice that an operand has become smaller than a result that is written over it.
// - In XNNPACK 4ea82e5, the second output of a node keeps its old shape.
// - Max pooling and resizing keep old pointers to pixels if only the number of channels changes.
// - After a failed allocation, poolings and transposed convolutions may hold a freed buffer, no
//   buffer, or a buffer of the wrong size.
// - Dynamically quantized convolutions have a list with one buffer per image of the batch. If the
//   batch size changes, XNNPACK 4ea82e5 keeps the old list, but uses and frees as many buffers as
//   the new batch has images. XNNPACK 92a7ad5 makes this mistake only when it deletes the operator
//   after a failure.
void forget_sizes(xnn_runtime_t runtime, const Graph& graph, std::span<const Shape> shapes);

// Returns NotSupported if the change from `before` to `shapes` would make XNNPACK use outdated
// state. `before` holds the shapes of the last reshape or, if `before_is_load`, the shapes at load.
// Only builds in which can_access_runtimes() is false need this check.
Error refuse_sizes(const Graph& graph, std::span<const Shape> before, bool before_is_load,
                   std::span<const Shape> shapes);

}  // namespace vitrine::xnnpack
