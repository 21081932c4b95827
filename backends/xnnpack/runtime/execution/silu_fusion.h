// Makes one operator compute a SiLU, x * sigmoid(x), in one pass. Payloads contain a SiLU as two
// nodes, which XNNPACK runs as two operators.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// XNNPACK lacks SiLU, so a cube root represents a SiLU in the subgraph. Payloads cannot contain
// cube roots. own_kernels/silu.cc runs these operators.
inline constexpr xnn_unary_operator kSiluPlaceholder = xnn_unary_cube_root;

// Sets Node::fusion for the two nodes of each f32 SiLU, if only the product reads the sigmoid. Call
// only if OwnKernels will be used for the graph.
Error mark_silus(Graph& graph);

// Defines the placeholder of a SiLU. mark_silus() has marked `product`.
xnn_status define_silu(xnn_subgraph_t subgraph, const Graph& graph, const Node& product,
                       std::span<const uint32_t> ids);

}  // namespace vitrine::xnnpack
