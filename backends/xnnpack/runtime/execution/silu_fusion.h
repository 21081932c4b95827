// SiLU, x * sigmoid(x), in one pass. Payloads contain it as two nodes, and XNNPACK runs it as two
// operators that write and read the sigmoid.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// XNNPACK has no SiLU. The subgraph contains this operator instead, which no payload can contain;
// our kernel replaces its computation (own_kernels/functions.cc).
inline constexpr xnn_unary_operator kSiluPlaceholder = xnn_unary_cube_root;

// Marks each f32 sigmoid and product (Node::fusion) whose sigmoid has no other reader. Call it only
// if OwnKernels will run the graph.
Error mark_silus(Graph& graph);

// Defines the placeholder for a marked product.
xnn_status define_silu(xnn_subgraph_t subgraph, const Graph& graph, const Node& product,
                       std::span<const uint32_t> ids);

}  // namespace vitrine::xnnpack
