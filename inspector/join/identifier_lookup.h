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
// text to the identifiers that they log. If the map lacks an identifier, uses the longest key that
// the identifier contains. This search ignores keys that are numbers.
const std::vector<etrecord::DebugHandle>* handles_of(const etrecord::DelegateEntry& entry,
                                                     const TraceRow& row);

// Nodes by the names that they had before lowering.
using NodesByName = std::map<std::string_view, size_t>;
NodesByName nodes_by_name(const etrecord::EdgeGraph& graph, const std::vector<size_t>& nodes);
// Returns the node whose name is the longest prefix of `name` that ends before an underscore or at
// the end of `name`.
std::optional<size_t> node_of_name(const NodesByName& nodes, std::string_view name);

}  // namespace vitrine::inspector
