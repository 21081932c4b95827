#include "aot/lowering/delegation_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "aot/graph/lowered_module.h"

namespace vitrine::delegation {
namespace {

constexpr std::string_view kLowered = "lowered_module_";

// Removes the number from a node's name: "aten_add_tensor_12" -> "aten_add_tensor".
std::string op_type(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size() || name[last] != '_') {
    return std::string(name);
  }
  return std::string(name.substr(0, last));
}

using Row = std::array<std::string, 3>;

std::vector<Row> rows_of(const DelegationInfo& info) {
  std::vector<Row> rows = {
      {"op_type", "occurrences_in_delegated_graphs", "occurrences_in_non_delegated_graphs"}};
  for (const auto& [type, counts] : info.by_op_type) {
    rows.push_back(
        {type, fmt::format("{}", counts.delegated), fmt::format("{}", counts.non_delegated)});
  }
  rows.push_back({"Total", fmt::format("{}", info.delegated_nodes),
                  fmt::format("{}", info.non_delegated_nodes)});
  return rows;
}

struct GridLine {
  std::string_view left, across, between, right;
};
constexpr GridLine kTop = {"╒", "═", "╤", "╕"};
constexpr GridLine kBelowHeader = {"╞", "═", "╪", "╡"};
constexpr GridLine kBetween = {"├", "─", "┼", "┤"};
constexpr GridLine kBottom = {"╘", "═", "╧", "╛"};

std::string ruled(const GridLine& line, const std::array<size_t, 4>& widths) {
  std::string text(line.left);
  for (size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) text += line.between;
    for (size_t k = 0; k < widths[i] + 2; ++k) text += line.across;
  }
  return text.append(line.right) + "\n";
}

}  // namespace

DelegationInfo delegation_info(const aot::Graph& graph) {
  DelegationInfo info;
  for (const aot::Node& node : graph.nodes()) {
    if (node.is_call()) {
      const std::string type = op_type(node.name());
      if (type == "executorch_call_delegate") continue;
      ++info.by_op_type[type].non_delegated;
      ++info.non_delegated_nodes;
    }
    if (node.kind() != aot::Node::Kind::kGetAttr || !node.name().starts_with(kLowered)) continue;
    ++info.subgraphs;
    const auto module = graph.lowered_modules().find(node.attribute());
    if (module == graph.lowered_modules().end()) continue;
    for (const aot::Node& inside : module->second->original.graph->nodes()) {
      if (!inside.is_call()) continue;
      ++info.by_op_type[op_type(inside.name())].delegated;
      ++info.delegated_nodes;
    }
  }
  return info;
}

std::string format_summary(const DelegationInfo& info) {
  return fmt::format(
      "Total delegated subgraphs: {}\nNumber of delegated nodes: {}\nNumber of non-delegated "
      "nodes: {}\n",
      info.subgraphs, info.delegated_nodes, info.non_delegated_nodes);
}

std::string format_csv(const DelegationInfo& info) {
  std::string text;
  for (const Row& row : rows_of(info)) text += fmt::format("{},{},{}\n", row[0], row[1], row[2]);
  return text;
}

std::string format_grid(const DelegationInfo& info) {
  const std::vector<Row> rows = rows_of(info);
  // Each column is at least two characters wider than its header. The first column contains the row
  // numbers and has an empty header.
  std::array<size_t, 4> widths = {std::max<size_t>(2, fmt::format("{}", rows.size() - 2).size())};
  for (size_t i = 0; i < 3; ++i) {
    widths[i + 1] = rows[0][i].size() + 2;
    for (const Row& row : rows) widths[i + 1] = std::max(widths[i + 1], row[i].size());
  }
  std::string text = ruled(kTop, widths);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) text += ruled(i == 1 ? kBelowHeader : kBetween, widths);
    text += fmt::format("│ {:>{}} │ {:<{}} │ {:>{}} │ {:>{}} │\n",
                        i == 0 ? "" : fmt::format("{}", i - 1), widths[0], rows[i][0], widths[1],
                        rows[i][1], widths[2], rows[i][2], widths[3]);
  }
  return text + ruled(kBottom, widths);
}

}  // namespace vitrine::delegation
