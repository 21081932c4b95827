// The functions that define each kind of node for XNNPACK. The node table refers to them.
#pragma once

#include <xnnpack.h>

#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// Nodes that only some versions of XNNPACK support. Loading rejects a node if its member is false.
struct OptionalNodes {
  bool attention;
  bool sparse_max_pooling;  // max pooling of one element, or with a stride above its window
};
OptionalNodes optional_nodes();

// True if the fusion of a clamp may give the preceding node wrong bounds.
bool fusion_confuses_bounds();

xnn_status define_unary(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_clamp(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_parametric_unary(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_softmax(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_copy(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_binary(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_matrix_multiply(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_attention(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_fully_connected(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_convolution(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_depthwise(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_transposed_convolution(xnn_subgraph_t, const Node&,
                                         std::span<const uint32_t> ids);
xnn_status define_average_pooling(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_max_pooling(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_argmax_pooling(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_global_average_pooling(xnn_subgraph_t, const Node&,
                                         std::span<const uint32_t> ids);
xnn_status define_concatenate(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_transpose(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_reshape(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_slice(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_constant_pad(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);
xnn_status define_resize(xnn_subgraph_t, const Node&, std::span<const uint32_t> ids);

}  // namespace vitrine::xnnpack
