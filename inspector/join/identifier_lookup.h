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

// Returns the debug handles that the delegate map has for an operator, or null. Some delegates add
// text to the identifiers that they log. For them, uses the longest key that the logged identifier
// contains, except for numbers.
const std::vector<etrecord::DebugHandle>* handles_of(const etrecord::DelegateEntry& entry,
                                                     const TraceRow& row);

// Maps the names that nodes had before lowering to the nodes.
using NodesByName = std::map<std::string_view, size_t>;
NodesByName nodes_by_name(const etrecord::EdgeGraph& graph, const std::vector<size_t>& nodes);
// Returns the node with the longest name with which `name` begins, followed by an underscore or the
// end.
std::optional<size_t> node_of_name(const NodesByName& nodes, std::string_view name);

}  // namespace vitrine::inspector
