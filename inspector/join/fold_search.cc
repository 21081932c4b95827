#include "inspector/join/fold_search.h"

#include <cstdint>

namespace vitrine::inspector {

FoldSearch::FoldSearch(const etrecord::EdgeGraph& graph)
    : graph_(graph), users_(graph.nodes.size()) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const size_t input : graph.nodes[i].inputs) users_[input].push_back(i);
  }
}

// Breadth first: rows of the first node that has some, or null.
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
  size_t least = SIZE_MAX;
  for (const auto& [other, its_rows] : rows) {
    const auto nodes = graph_.nodes_of_handle.find(other);
    // Rows whose handle the graph does not know come last.
    const size_t there = nodes == graph_.nodes_of_handle.end() ? SIZE_MAX - 1 : nodes->second[0];
    const size_t here = start->second[0];
    const size_t distance = there > here ? there - here : here - there;
    if (distance < least) {
      least = distance;
      nearest = its_rows.front();
    }
  }
  return nearest;
}

}  // namespace vitrine::inspector
