#include "backends/xnnpack/runtime/execution/silu_fusion.h"

#include <cmath>
#include <string_view>

#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

bool is_f32(const Value& value) {
  return value.datatype->xnn == xnn_datatype_fp32 &&
         value.datatype->quantization == Quantization::kNone;
}

// Returns the sigmoid node if `product` is x * sigmoid(x); otherwise null.
Node* sigmoid_of(Graph& graph, const Node& product) {
  for (const size_t i : {0, 1}) {
    const uint32_t producer = graph.values[product.inputs[i]].producer;
    if (producer == kNone || !is_kind(graph.nodes[producer], "Sigmoid")) continue;
    if (graph.nodes[producer].inputs[0] == product.inputs[1 - i]) return &graph.nodes[producer];
  }
  return nullptr;
}

}  // namespace

Error mark_silus(Graph& graph) {
  CheckedVector<uint32_t> readers;
  VITRINE_RETURN_IF_ERROR(readers.resize(graph.values.size()));
  for (const Node& node : graph.nodes) {
    if (!node.live) continue;
    for (const uint32_t value : node.input_values()) ++readers[value];
  }
  for (Node& node : graph.nodes) {
    const bool is_bounded = !std::isinf(node.output_min) || !std::isinf(node.output_max);
    if (!node.live || is_bounded || !is_kind(node, "Multiply")) continue;
    Node* const sigmoid = sigmoid_of(graph, node);
    if (sigmoid == nullptr) continue;
    const uint32_t result = sigmoid->outputs[0];
    const Value& x = graph.values[sigmoid->inputs[0]];
    if (readers[result] != 1 || graph.values[result].external_id != kNone) continue;
    if (x.is_constant() || !is_f32(x) || !is_f32(graph.values[result]) ||
        !is_f32(graph.values[node.outputs[0]])) {
      continue;
    }
    sigmoid->fusion = Node::Fusion::kSigmoid;
    node.fusion = Node::Fusion::kProduct;
  }
  return Error();
}

xnn_status define_silu(xnn_subgraph_t subgraph, const Graph& graph, const Node& product,
                       std::span<const uint32_t> ids) {
  const uint32_t first = graph.values[product.inputs[0]].producer;
  const bool first_is_sigmoid =
      first != kNone && graph.nodes[first].fusion == Node::Fusion::kSigmoid;
  return xnn_define_unary(subgraph, kSiluPlaceholder, nullptr,
                          ids[product.inputs[first_is_sigmoid ? 1 : 0]], ids[product.outputs[0]],
                          product.flags);
}

}  // namespace vitrine::xnnpack
