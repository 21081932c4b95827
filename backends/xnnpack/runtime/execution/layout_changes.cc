#include "backends/xnnpack/runtime/execution/layout_changes.h"

#include <cmath>

#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

// Maximum number of reshapes between two transpositions. Lowering inserts only two. The limit
// bounds the time for hostile graphs.
constexpr int kMaxReshapes = 4;

bool is_unbounded(const Node& node) {
  return std::isinf(node.output_min) && std::isinf(node.output_max);
}

bool have_same_type(const Value& a, const Value& b) {
  return a.datatype == b.datatype && a.scale == b.scale && a.zero_point == b.zero_point;
}

bool inverts(const DimList& second, const DimList& first) {
  if (second.count != first.count) return false;
  for (size_t i = 0; i < second.count; ++i) {
    if (second[i] >= first.count || first[second[i]] != i) return false;
  }
  return true;
}

bool is_result_of_convolution(const Graph& graph, const Value& value) {
  if (value.producer == kNone) return false;
  const Node& producer = graph.nodes[value.producer];
  return is_kind(producer, "Conv2d") || is_kind(producer, "DepthwiseConv2d");
}

// Returns the transposition of a convolution's result that `node` undoes, or null. Other
// transpositions remain, because profiles must show the operators of the source model.
const Node* undone_by(const Graph& graph, std::span<const Shape> shapes, const Node& node) {
  if (!is_kind(node, "StaticTranspose") || !is_unbounded(node)) return nullptr;
  uint32_t value = node.inputs[0];
  for (int reshapes = 0; reshapes <= kMaxReshapes; ++reshapes) {
    if (graph.values[value].producer == kNone) return nullptr;
    const Node& producer = graph.nodes[graph.values[value].producer];
    if (!is_unbounded(producer)) return nullptr;
    if (is_kind(producer, "StaticTranspose")) {
      const bool are_reshapes_undone = shapes[value] == shapes[node.inputs[0]];
      return are_reshapes_undone && inverts(node.list, producer.list) &&
                     is_result_of_convolution(graph, graph.values[producer.inputs[0]])
                 ? &producer
                 : nullptr;
    }
    if (!is_kind(producer, "StaticReshape")) return nullptr;
    value = producer.inputs[0];
  }
  return nullptr;
}

}  // namespace

Error cancel_layout_changes(Graph& graph, std::span<const Shape> shapes) {
  CheckedVector<uint32_t> same;  // maps each value to the value that replaces it
  VITRINE_RETURN_IF_ERROR(same.resize(graph.values.size()));
  for (size_t i = 0; i < same.size(); ++i) same[i] = static_cast<uint32_t>(i);
  bool is_changed = false;
  for (Node& node : graph.nodes) {
    if (!node.live) continue;
    for (uint32_t k = 0; k < node.input_count; ++k) node.inputs[k] = same[node.inputs[k]];
    const Node* const undone = undone_by(graph, shapes, node);
    if (undone == nullptr) continue;
    const Value& result = graph.values[node.outputs[0]];
    if (result.external_id != kNone || !have_same_type(result, graph.values[undone->inputs[0]])) {
      continue;
    }
    same[node.outputs[0]] = undone->inputs[0];
    is_changed = true;
  }
  return is_changed ? find_live_nodes(graph) : Error();
}

}  // namespace vitrine::xnnpack
