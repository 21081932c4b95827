// What XNNPACK 4ea82e5 keeps from call to call where other sizes make it wrong, and how it is kept
// from using that.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// False without XNNPACK's private headers.
bool can_forget_sizes();

// Before a runtime is reshaped to `shapes`, by value: lets it plan all memory and make its
// operators' lists and buffers anew. The workspace's mutex is held.
//
// - Memory is planned anew only where a size of an operator's result grows, or, of some operators,
//   that of their temporary memory. Not where only the parameters of dynamically quantised images
//   become more, nor the sums of a global pooling; and a result that is written over an operand may
//   have been larger than that.
// - The second output of a node keeps its shape.
// - Max pooling and resizing keep pointers to pixels when only the number of channels changes.
// - After a failed allocation, poolings and transposed convolutions may hold a buffer that is
//   freed, or none, or one for other sizes than those that they remember.
// - Convolutions that are quantised dynamically have a buffer for each image of the batch, and free
//   and use those of the next batch's size in the list of the former one's.
void forget_sizes(xnn_runtime_t runtime, const Graph& graph, std::span<const Shape> shapes);

// For builds that cannot: NotSupported where sizes change in such a way. `before` are the shapes of
// the last call, or of load.
Error refuse_sizes(const Graph& graph, std::span<const Shape> before, bool before_is_load,
                   std::span<const Shape> shapes);

}  // namespace vitrine::xnnpack
