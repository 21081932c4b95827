// Counts how much of a program is delegated.
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

// Counts like ExecuTorch's get_delegation_info. Calls of the top graph that call no delegate are
// non-delegated, getitems included; calls of a lowered module's original graph are delegated.
// Subgraphs of control flow are ignored.
struct DelegationInfo {
  size_t subgraphs = 0;
  size_t delegated_nodes = 0;
  size_t non_delegated_nodes = 0;
  std::map<std::string, OpCounts> by_op_type;  // "aten_add_tensor": a node's name without number
};

DelegationInfo delegation_info(const aot::Graph& graph);

// Three lines.
std::string format_summary(const DelegationInfo& info);
// A header, one line per operator type, then "Total".
std::string format_csv(const DelegationInfo& info);
// The same as a framed table with row numbers, like tabulate's fancy_grid.
std::string format_grid(const DelegationInfo& info);

}  // namespace vitrine::delegation
