// Counts the delegated and the non-delegated calls of a program.
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

// The counts of ExecuTorch's get_delegation_info. Calls in lowered modules count as delegated.
// Calls in the main graph, including getitems but not delegate calls, count as non-delegated.
// Subgraphs of control flow do not count.
struct DelegationInfo {
  size_t subgraphs = 0;
  size_t delegated_nodes = 0;
  size_t non_delegated_nodes = 0;
  std::map<std::string, OpCounts> by_op_type;  // key: node name without number, "aten_add_tensor"
};

DelegationInfo delegation_info(const aot::Graph& graph);

// Returns the total counts as text, in three lines.
std::string format_summary(const DelegationInfo& info);
// Returns a CSV table that has a header, a line for each operator type, and a line "Total".
std::string format_csv(const DelegationInfo& info);
// Returns the table of operator types with a frame and row numbers, like tabulate's fancy_grid.
std::string format_grid(const DelegationInfo& info);

}  // namespace vitrine::delegation
