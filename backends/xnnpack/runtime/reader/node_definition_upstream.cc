// Defines the nodes that differ between XNNPACK 92a7ad5 (this file) and 4ea82e5.
#include <array>

#include "backends/xnnpack/runtime/reader/node_definition.h"

namespace vitrine::xnnpack {

OptionalNodes optional_nodes() { return {.attention = false, .sparse_max_pooling = true}; }

bool fusion_confuses_bounds() { return false; }

xnn_status define_attention(xnn_subgraph_t, const Node&, std::span<const uint32_t>) {
  return xnn_status_unsupported_parameter;
}

xnn_status define_concatenate(xnn_subgraph_t subgraph, const Node& node,
                              std::span<const uint32_t> ids) {
  std::array<uint32_t, std::tuple_size_v<decltype(Node::inputs)>> inputs{};
  for (size_t i = 0; i < node.input_count; ++i) inputs[i] = ids[node.inputs[i]];
  return xnn_define_concatenate(subgraph, static_cast<int32_t>(node.axis), node.input_count,
                                inputs.data(), ids[node.outputs[0]], node.flags);
}

xnn_status define_constant_pad(xnn_subgraph_t subgraph, const Node& node,
                               std::span<const uint32_t> ids) {
  return xnn_define_static_constant_pad_v2(subgraph, node.list.count, node.list.items.data(),
                                           node.second_list.items.data(), node.parameter,
                                           ids[node.inputs[0]], ids[node.outputs[0]], node.flags);
}

}  // namespace vitrine::xnnpack
