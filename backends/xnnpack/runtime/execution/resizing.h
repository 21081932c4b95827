// Makes XNNPACK discard the state that becomes wrong when sizes change.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Call before the runtime is reshaped to `shapes` (indexed by value), with the workspace's mutex
// held. XNNPACK then plans all memory again and rebuilds its operators' lists and buffers. Both
// supported versions of XNNPACK need this call (ResizingTest,
// FaultWalkTest.ExecutionReportsFailedAllocations). Without it:
//
// - XNNPACK plans memory again only if an operator's result grows or, for some operators, its
//   temporary memory. It does not plan again if only the sums of a global pooling grow, or only the
//   number of quantization parameters of dynamically quantized images. A result that was written
//   over an operand may also be larger than that operand now.
// - In XNNPACK 4ea82e5, the second output of a node keeps its old shape.
// - Max pooling and resizing keep old pointers to pixels if only the number of channels changes.
// - After a failed allocation, poolings and transposed convolutions may hold a freed buffer, no
//   buffer, or a buffer whose size does not match the sizes that they store.
// - Dynamically quantized convolutions have a list with one buffer for each image of the batch. If
//   the batch size changes, XNNPACK 4ea82e5 still has the list of the old batch, but uses and frees
//   as many buffers as the new batch has images. XNNPACK 92a7ad5 makes this mistake only when it
//   deletes the operator after a failure.
void forget_sizes(xnn_runtime_t runtime, const Graph& graph, std::span<const Shape> shapes);

// For builds in which can_access_runtimes() is false. Returns NotSupported if a change of sizes
// would make XNNPACK use outdated state. `before` holds the shapes of the last call, or those at
// load.
Error refuse_sizes(const Graph& graph, std::span<const Shape> before, bool before_is_load,
                   std::span<const Shape> shapes);

}  // namespace vitrine::xnnpack
