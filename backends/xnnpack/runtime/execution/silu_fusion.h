// Makes one operator compute a SiLU, x * sigmoid(x), in one pass. Payloads contain a SiLU as two
// nodes, which XNNPACK runs as two operators: the first writes the sigmoid to memory, and the
// second reads it.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// XNNPACK lacks SiLU, so a cube root represents a SiLU in the subgraph. Payloads cannot contain
// cube roots, so each cube root in a runtime is a SiLU. One of Vitrine's kernels runs these
// operators (own_kernels/silu.cc).
inline constexpr xnn_unary_operator kSiluPlaceholder = xnn_unary_cube_root;

// Sets Node::fusion for the sigmoid and the product of each f32 SiLU whose sigmoid is read only by
// the product. Call it only if OwnKernels will be used for the graph.
Error mark_silus(Graph& graph);

// Defines the placeholder of a SiLU. `product` is the product node of the SiLU, marked by
// mark_silus().
xnn_status define_silu(xnn_subgraph_t subgraph, const Graph& graph, const Node& product,
                       std::span<const uint32_t> ids);

}  // namespace vitrine::xnnpack
