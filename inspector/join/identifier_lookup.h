// Looks up the identifiers that delegates logged.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/trace_rows.h"

namespace vitrine::inspector {

// Returns the handles of an operator in the delegate map, or null. Some delegates decorate the
// identifiers that they log; then the longest key that the logged identifier contains is used,
// unless it is a number.
const std::vector<etrecord::DebugHandle>* handles_of(const etrecord::DelegateEntry& entry,
                                                     const TraceRow& row);

// Nodes by the names that they had before lowering.
using NodesByName = std::map<std::string_view, size_t>;
NodesByName nodes_by_name(const etrecord::EdgeGraph& graph, const std::vector<size_t>& nodes);
// Returns the node with the longest name that `name` begins with, up to an underscore.
std::optional<size_t> node_of_name(const NodesByName& nodes, std::string_view name);

}  // namespace vitrine::inspector
