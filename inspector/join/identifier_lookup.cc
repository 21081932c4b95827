#include "inspector/join/identifier_lookup.h"

#include <string>

namespace vitrine::inspector {

using etrecord::DebugHandle;

const std::vector<DebugHandle>* handles_of(const etrecord::DelegateEntry& entry,
                                           const TraceRow& row) {
  const std::string id(row.delegate_id != etdump::kUnset ? std::to_string(row.delegate_id)
                       : row.identifier.empty()          ? row.delegate_name
                                                         : row.identifier);
  if (const auto exact = entry.handles_of_id.find(id); exact != entry.handles_of_id.end()) {
    return &exact->second;
  }
  const std::vector<DebugHandle>* handles = nullptr;
  size_t longest = 0;
  for (const auto& [known, its_handles] : entry.handles_of_id) {
    // Skips keys that are numbers, because any identifier may contain a number.
    if (known.find_first_not_of("0123456789") == std::string::npos) continue;
    if (known.size() > longest && id.find(known) != std::string::npos) {
      longest = known.size();
      handles = &its_handles;
    }
  }
  return handles;
}

NodesByName nodes_by_name(const etrecord::EdgeGraph& graph, const std::vector<size_t>& nodes) {
  NodesByName names;
  for (const size_t node : nodes) {
    const std::string_view name = graph.nodes[node].name;
    names.emplace(name.substr(name.rfind('/') + 1), node);  // npos + 1 is 0
  }
  return names;
}

std::optional<size_t> node_of_name(const NodesByName& nodes, std::string_view name) {
  constexpr int kMaxCuts = 32;
  for (int cuts = 0; cuts < kMaxCuts && !name.empty(); ++cuts) {
    if (const auto found = nodes.find(name); found != nodes.end()) return found->second;
    const size_t line = name.rfind('_');
    name = name.substr(0, line == name.npos ? 0 : line);
  }
  return std::nullopt;
}

}  // namespace vitrine::inspector
