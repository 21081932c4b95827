#include <fmt/format.h>

#include <deque>
#include <map>

#include "aot/graph/aot_error.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
std::string source_of(const Node& node) {
  if (node.meta.origin == nullptr || node.meta.origin->from_node.empty()) return "";
  const Ancestor* ancestor = &node.meta.origin->from_node.back();
  while (!ancestor->from.empty()) ancestor = &ancestor->from.back();
  return fmt::format("{}.{}", ancestor->name, ancestor->graph_id);
}

void generate_debug_handles(ExportedProgram& program) {
  std::map<std::string, uint32_t> handles;
  std::deque<Graph*> graphs = {program.graph.get()};
  while (!graphs.empty()) {
    Graph& graph = *graphs.front();
    graphs.pop_front();
    for (Node& node : graph.nodes()) {
      if (node.kind() == Node::Kind::kGetAttr) {
        const auto subgraph = graph.subgraphs().find(node.attribute());
        if (subgraph == graph.subgraphs().end()) continue;  // a constant
        graphs.push_back(subgraph->second.get());
      }
      if (node.kind() == Node::Kind::kPlaceholder || node.kind() == Node::Kind::kOutput) continue;
      const std::string source = source_of(node);
      if (source.empty())
        throw AotError(fmt::format("node {}: its source node is missing", node.name()));
      const auto next = static_cast<uint32_t>(handles.size() + 1);
      node.meta.debug_handle = handles.emplace(source, next).first->second;
    }
  }
}

}  // namespace vitrine::aot
