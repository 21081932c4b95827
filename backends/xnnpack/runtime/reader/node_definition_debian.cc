// Defines the nodes that differ between XNNPACK 4ea82e5 (this file) and 92a7ad5.
#include "backends/xnnpack/runtime/reader/node_definition.h"

namespace vitrine::xnnpack {
namespace {

using Ids = std::span<const uint32_t>;

uint32_t input_id(const Node& node, Ids ids, size_t i) { return ids[node.inputs[i]]; }
uint32_t output_id(const Node& node, Ids ids) { return ids[node.outputs[0]]; }

}  // namespace

OptionalNodes optional_nodes() { return {.attention = true, .sparse_max_pooling = false}; }

bool fusion_confuses_bounds() { return true; }

xnn_status define_attention(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_scaled_dot_product_attention(
      subgraph, xnn_attention_logits_cap_type_none, nullptr, input_id(node, ids, 0),
      input_id(node, ids, 1), input_id(node, ids, 2), input_id(node, ids, 3),
      input_id(node, ids, 4), output_id(node, ids), node.flags);
}

xnn_status define_concatenate(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  const uint32_t to = output_id(node, ids);
  const auto axis = static_cast<int32_t>(node.axis);
  switch (node.input_count) {
    case 2:
      return xnn_define_concatenate2(subgraph, axis, input_id(node, ids, 0), input_id(node, ids, 1),
                                     to, node.flags);
    case 3:
      return xnn_define_concatenate3(subgraph, axis, input_id(node, ids, 0), input_id(node, ids, 1),
                                     input_id(node, ids, 2), to, node.flags);
    case 4:
      return xnn_define_concatenate4(subgraph, axis, input_id(node, ids, 0), input_id(node, ids, 1),
                                     input_id(node, ids, 2), input_id(node, ids, 3), to,
                                     node.flags);
    default:
      return xnn_define_concatenate5(subgraph, axis, input_id(node, ids, 0), input_id(node, ids, 1),
                                     input_id(node, ids, 2), input_id(node, ids, 3),
                                     input_id(node, ids, 4), to, node.flags);
  }
}

xnn_status define_constant_pad(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_static_constant_pad(subgraph, node.list.items.data(),
                                        node.second_list.items.data(), node.parameter,
                                        input_id(node, ids, 0), output_id(node, ids), node.flags);
}

}  // namespace vitrine::xnnpack
