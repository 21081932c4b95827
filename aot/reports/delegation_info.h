// How much of a program backends have taken, in numbers.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "aot/graph/graph.h"

namespace vitrine::delegation {

struct OpCounts {
  size_t delegated = 0;
  size_t non_delegated = 0;
};

// As ExecuTorch's get_delegation_info counts: calls of the top graph that are no delegate calls are
// non-delegated, getitems too; calls of a lowered module's original graph are delegated. Subgraphs
// of control flow are not looked into.
struct DelegationInfo {
  size_t subgraphs = 0;
  size_t delegated_nodes = 0;
  size_t non_delegated_nodes = 0;
  std::map<std::string, OpCounts> by_op_type;  // "aten_add_tensor": a node's name without number
};

DelegationInfo delegation_info(const aot::Graph& graph);

// Three lines.
std::string format_summary(const DelegationInfo& info);
// A line a type of operator, then "Total"; with a header.
std::string format_csv(const DelegationInfo& info);
// The same as a table in a frame of double and single lines, rows numbered: tabulate's fancy_grid.
std::string format_grid(const DelegationInfo& info);

}  // namespace vitrine::delegation
