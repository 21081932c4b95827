#include "inspector/join/fold_search.h"

#include <cstdint>

namespace vitrine::inspector {

FoldSearch::FoldSearch(const etrecord::EdgeGraph& graph)
    : graph_(graph), users_(graph.nodes.size()) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const size_t input : graph.nodes[i].inputs) users_[input].push_back(i);
  }
}

// Searches the graph breadth-first from `start`. Returns the rows of the first node whose handle is
// in `rows`, or null.
const std::vector<size_t>* FoldSearch::walk(const std::vector<size_t>& start, bool to_inputs,
                                            const std::set<etrecord::DebugHandle>& call,
                                            const HandleRows& rows) const {
  std::vector<size_t> queue = start;
  std::set<size_t> seen(start.begin(), start.end());
  for (size_t next = 0; next < queue.size(); ++next) {
    const etrecord::EdgeNode& node = graph_.nodes[queue[next]];
    if (const auto found = rows.find(node.debug_handle); found != rows.end()) {
      return &found->second;
    }
    for (const size_t other : to_inputs ? node.inputs : users_[queue[next]]) {
      if (call.contains(graph_.nodes[other].debug_handle) && seen.insert(other).second) {
        queue.push_back(other);
      }
    }
  }
  return nullptr;
}

std::optional<size_t> FoldSearch::find(etrecord::DebugHandle handle,
                                       const std::set<etrecord::DebugHandle>& call,
                                       const HandleRows& rows) const {
  const auto start = graph_.nodes_of_handle.find(handle);
  if (rows.empty() || start == graph_.nodes_of_handle.end()) return std::nullopt;
  if (const auto* up = walk(start->second, true, call, rows)) return up->back();
  if (const auto* down = walk(start->second, false, call, rows)) return down->front();

  std::optional<size_t> nearest;
  size_t min_distance = SIZE_MAX;
  for (const auto& [other, its_rows] : rows) {
    const auto nodes = graph_.nodes_of_handle.find(other);
    // A handle that is not in the graph gets the largest distance. Its row is chosen only if no
    // handle in `rows` is in the graph.
    const size_t node = nodes == graph_.nodes_of_handle.end() ? SIZE_MAX - 1 : nodes->second[0];
    const size_t start_node = start->second[0];
    const size_t distance = node > start_node ? node - start_node : start_node - node;
    if (distance < min_distance) {
      min_distance = distance;
      nearest = its_rows.front();
    }
  }
  return nearest;
}

}  // namespace vitrine::inspector
