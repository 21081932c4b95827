#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/trace_rows.h"

namespace vitrine::inspector {

// Returns the debug handles that the delegate map lists for an operator's identifier, or null. Some
// delegates log a key of the map with added text. If the map lacks the identifier, the longest key
// that the identifier contains is used. Keys that are numbers must match exactly.
const std::vector<etrecord::DebugHandle>* handles_of(const etrecord::DelegateEntry& entry,
                                                     const TraceRow& row);

// Nodes by their names before lowering.
using NodesByName = std::map<std::string_view, size_t>;
NodesByName nodes_by_name(const etrecord::EdgeGraph& graph, const std::vector<size_t>& nodes);
// Returns the node with this name. If there is none, cuts the name at its last underscore and tries
// again: "linear_1_gemm" finds the node "linear_1".
std::optional<size_t> node_of_name(const NodesByName& nodes, std::string_view name);

}  // namespace vitrine::inspector
