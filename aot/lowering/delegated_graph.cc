#include "aot/lowering/delegated_graph.h"

#include <fmt/format.h>

#include "aot/graph/lowered_module.h"
#include "aot/graph/print.h"

namespace vitrine::delegation {

std::string format_delegated_graph(const aot::Graph& graph) {
  std::string text = "graph():\n";
  for (const aot::Node& node : graph.nodes()) {
    text += fmt::format("  {}\n", aot::format_node(node));
    if (node.kind() != aot::Node::Kind::kGetAttr) continue;
    const auto module = graph.lowered_modules().find(node.attribute());
    if (module == graph.lowered_modules().end()) continue;
    text += fmt::format("    backend_id: {}\n    lowered graph():\n", module->second->backend_id);
    for (const aot::Node& inside : module->second->original.graph->nodes()) {
      text += fmt::format("      {}\n", aot::format_node(inside));
    }
  }
  return text;
}

}  // namespace vitrine::delegation
