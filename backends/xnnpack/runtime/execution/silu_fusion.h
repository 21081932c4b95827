// Makes one operator compute a SiLU, x * sigmoid(x), in one pass. Payloads contain a SiLU as two
// nodes, which XNNPACK runs as two operators: the first writes the sigmoid to memory, and the
// second reads it.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// XNNPACK lacks SiLU, so this operator represents a SiLU in the subgraph. Payloads cannot contain
// this operator. Our kernel replaces it (own_kernels/silu.cc).
inline constexpr xnn_unary_operator kSiluPlaceholder = xnn_unary_cube_root;

// Marks the sigmoid and the product of each f32 SiLU (Node::fusion) if only the product reads the
// sigmoid. Call it only if OwnKernels will run the graph.
Error mark_silus(Graph& graph);

// Defines the placeholder for a SiLU whose product mark_silus() has marked.
xnn_status define_silu(xnn_subgraph_t subgraph, const Graph& graph, const Node& product,
                       std::span<const uint32_t> ids);

}  // namespace vitrine::xnnpack
