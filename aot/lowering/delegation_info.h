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

// The counts of ExecuTorch's get_delegation_info. Calls of the top graph, including getitems, are
// non-delegated, except delegate calls. Calls of a lowered module's original graph are delegated.
// Subgraphs of control flow are ignored.
struct DelegationInfo {
  size_t subgraphs = 0;
  size_t delegated_nodes = 0;
  size_t non_delegated_nodes = 0;
  std::map<std::string, OpCounts> by_op_type;  // key: node name without number, "aten_add_tensor"
};

DelegationInfo delegation_info(const aot::Graph& graph);

// Returns the totals, in three lines.
std::string format_summary(const DelegationInfo& info);
// Returns a CSV table: a header, one line per operator type, then "Total".
std::string format_csv(const DelegationInfo& info);
// Returns the same table with a frame and row numbers, like tabulate's fancy_grid.
std::string format_grid(const DelegationInfo& info);

}  // namespace vitrine::delegation
