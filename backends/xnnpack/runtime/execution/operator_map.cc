#include "backends/xnnpack/runtime/execution/operator_map.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

bool is_inserted(const Node& node) { return node.debug_handle == kInsertedHandle; }
// The first live node that reads each value, and the number of live nodes that read it.
struct Readers {
  Error find(const Graph& graph) {
    VITRINE_RETURN_IF_ERROR(first.assign(graph.values.size(), kNone));
    VITRINE_RETURN_IF_ERROR(count.resize(graph.values.size()));
    for (size_t i = graph.nodes.size(); i-- > 0;) {
      if (!graph.nodes[i].live) continue;
      for (const uint32_t value : graph.nodes[i].input_values()) {
        first[value] = static_cast<uint32_t>(i);
        ++count[value];
      }
    }
    return Error();
  }
  CheckedVector<uint32_t> first;
  CheckedVector<uint32_t> count;
};

// Predicts which nodes XNNPACK fuses, for builds that cannot observe the fusion.
bool is_probably_fused(const Graph& graph, const Readers& readers, const Node& node) {
  const auto is_private = [&](uint32_t value) {
    return graph.values[value].external_id == kNone && readers.count[value] == 1;
  };
  const uint32_t producer = graph.values[node.inputs[0]].producer;
  if (is_kind(node, "Clamp")) {
    if (producer == kNone || !is_private(node.inputs[0])) return false;
    const Node& before = graph.nodes[producer];
    return before.kind->has_weights || before.kind->has_window || is_kind(before, "Clamp");
  }
  if (is_kind(node, "Copy")) {
    return (producer != kNone && is_private(node.inputs[0])) || is_private(node.outputs[0]);
  }
  if (is_kind(node, "StaticConstantPad")) {
    const uint32_t reader = readers.first[node.outputs[0]];
    const bool spatial = node.list.count == 4 && node.list[0] == 0 && node.list[3] == 0 &&
                         node.second_list[0] == 0 && node.second_list[3] == 0;
    return spatial && node.parameter == 0.0f && is_private(node.outputs[0]) && reader != kNone &&
           (is_kind(graph.nodes[reader], "Conv2d") ||
            is_kind(graph.nodes[reader], "DepthwiseConv2d"));
  }
  return false;
}

// Returns the operator of each subgraph node, or kNone.
Result<CheckedVector<uint32_t>> operators_of_nodes(
    const Graph& graph, const Readers& readers, std::span<const DefinedNodes> defined,
    std::span<const OperatorTimes::Operator> operators) {
  uint32_t node_count = 0;
  for (const DefinedNodes& nodes : defined) {
    node_count = std::max(node_count, nodes.first + nodes.count);
  }
  CheckedVector<uint32_t> result;
  VITRINE_RETURN_IF_ERROR(result.assign(node_count, kNone));
  if (operator_times_are_measured()) {
    for (uint32_t k = 0; k < operators.size(); ++k) {
      if (operators[k].node < node_count) result[operators[k].node] = k;
    }
    return result;
  }
  uint32_t next = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.nodes[i].live || is_probably_fused(graph, readers, graph.nodes[i])) continue;
    for (uint32_t k = 0; k < defined[i].count; ++k) result[defined[i].first + k] = next++;
  }
  // After a wrong prediction, the map is empty, because operators would belong to wrong nodes.
  if (next != operators.size()) std::ranges::fill(result, kNone);
  return result;
}

// Finds the operator that runs each node. XNNPACK fuses clamps and copies into the preceding node,
// and padding into the following node. silu_fusion.h fuses a sigmoid into the following node. A
// node without an operator gets the operator of the nearest preceding or following node.
Error place_nodes(const Graph& graph, const Readers& readers, std::span<const DefinedNodes> defined,
                  std::span<const uint32_t> op_of_node, OperatorMap& map) {
  const size_t count = graph.nodes.size();
  CheckedVector<uint32_t> own;
  CheckedVector<uint32_t> before;
  CheckedVector<uint32_t> after;
  for (auto* operators : {&own, &before, &after}) {
    VITRINE_RETURN_IF_ERROR(operators->assign(count, kNone));
  }
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < defined[i].count; ++k) {
      const uint32_t op = op_of_node[defined[i].first + k];
      if (op == kNone) continue;
      own[i] = std::min(own[i], op);
      map.node_of_op[op] = i;
    }
    const Node& node = graph.nodes[i];
    const uint32_t producer = graph.values[node.inputs[0]].producer;
    before[i] = own[i];
    const bool fuses_forward =
        is_kind(node, "StaticConstantPad") || node.fusion == Node::Fusion::kSigmoid;
    if (own[i] == kNone && producer != kNone && !fuses_forward) {
      before[i] = before[producer];
    }
  }
  for (size_t i = count; i-- > 0;) {
    const uint32_t reader = readers.first[graph.nodes[i].outputs[0]];
    after[i] = own[i] != kNone || reader == kNone ? own[i] : after[reader];
    if (!graph.nodes[i].live) continue;
    if (own[i] != kNone) {
      map.placements[i] = {OperatorMap::NodePlacement::Kind::kOperator, own[i]};
    } else if (before[i] != kNone) {
      map.placements[i] = {OperatorMap::NodePlacement::Kind::kFused, before[i]};
    } else if (after[i] != kNone) {
      map.placements[i] = {OperatorMap::NodePlacement::Kind::kFused, after[i]};
    }
  }
  return Error();
}

// Finds the node that each inserted layout change serves: the first node that reads the converted
// value, directly or through another layout change. The layout change of an output serves the node
// that computes the output.
Error find_served(const Graph& graph, OperatorMap& map) {
  const size_t count = graph.nodes.size();
  CheckedVector<uint32_t> reader;         // by value: the first reader that is not a layout change
  CheckedVector<uint32_t> behind_change;  // by value: the reader after a layout change
  CheckedVector<uint32_t> source;
  VITRINE_RETURN_IF_ERROR(reader.assign(graph.values.size(), kNone));
  VITRINE_RETURN_IF_ERROR(behind_change.assign(graph.values.size(), kNone));
  VITRINE_RETURN_IF_ERROR(source.assign(count, kNone));
  for (size_t i = count; i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (is_inserted(node)) {
      const uint32_t out = node.outputs[0];
      map.serves[i] = reader[out] != kNone ? reader[out] : behind_change[out];
    }
    for (const uint32_t value : node.input_values()) {
      if (!is_inserted(node)) {
        reader[value] = static_cast<uint32_t>(i);
      } else if (map.serves[i] != kNone) {
        behind_change[value] = map.serves[i];
      }
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Node& node = graph.nodes[i];
    if (!is_inserted(node)) continue;
    const uint32_t producer = graph.values[node.inputs[0]].producer;
    if (producer != kNone) {
      source[i] = is_inserted(graph.nodes[producer]) ? source[producer] : producer;
    }
    if (map.serves[i] == kNone) map.serves[i] = source[i];
  }
  return Error();
}

Error add_line(const Node& node, size_t index, const OperatorMap& map, CheckedVector<char>& text) {
  static constexpr const char* kPlacements[] = {"none", "op=", "in="};
  const OperatorMap::NodePlacement& placement = map.placements[index];
  char number[16] = "";
  if (placement.kind != OperatorMap::NodePlacement::Kind::kNowhere) {
    std::snprintf(number, sizeof number, "%u", placement.op);
  }
  char served[16] = "-";
  if (map.serves[index] != kNone) {
    std::snprintf(served, sizeof served, "%u", map.serves[index]);
  }
  char line[160];  // long enough, because the names of node kinds are short
  const int length = std::snprintf(
      line, sizeof line, "%zu %s %u %s%s %s\n", index, node.kind->name, node.debug_handle,
      kPlacements[static_cast<size_t>(placement.kind)], number, served);
  return text.append({line, static_cast<size_t>(length)});
}

}  // namespace

Result<OperatorMap> make_operator_map(const Graph& graph, std::span<const DefinedNodes> defined,
                                      std::span<const OperatorTimes::Operator> operators) {
  OperatorMap map;
  VITRINE_RETURN_IF_ERROR(map.placements.resize(graph.nodes.size()));
  VITRINE_RETURN_IF_ERROR(map.serves.assign(graph.nodes.size(), kNone));
  VITRINE_RETURN_IF_ERROR(map.node_of_op.assign(operators.size(), kNone));
  Readers readers;
  VITRINE_RETURN_IF_ERROR(readers.find(graph));
  VITRINE_ASSIGN_OR_RETURN(const CheckedVector<uint32_t> op_of_node,
                           operators_of_nodes(graph, readers, defined, operators));
  VITRINE_RETURN_IF_ERROR(place_nodes(graph, readers, defined, op_of_node, map));
  VITRINE_RETURN_IF_ERROR(find_served(graph, map));
  return map;
}

Result<CheckedVector<char>> operator_map_text(const Graph& graph, const OperatorMap& map) {
  CheckedVector<char> text;
  const std::string_view head =
      operator_times_are_measured() ? kMeasuredMapHeader : kDerivedMapHeader;
  VITRINE_RETURN_IF_ERROR(text.append(head));
  VITRINE_RETURN_IF_ERROR(text.push_back('\n'));
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    VITRINE_RETURN_IF_ERROR(add_line(graph.nodes[i], i, map, text));
  }
  return text;
}

}  // namespace vitrine::xnnpack
