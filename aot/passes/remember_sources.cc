#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {

void remember_sources(ExportedProgram& program) {
  int64_t graph_id = 0;
  for_each_graph(*program.graph, [&](Graph& graph) {
    ++graph_id;
    for (Node& node : graph.nodes()) {
      if (!node.is_call() && node.kind() != Node::Kind::kGetAttr) continue;
      // A getitem node has the same source node as its call.
      const Node* call = node.calls(getitem()) ? node.need(0).node() : nullptr;
      if (call != nullptr && call->is_call()) {
        auto origin = std::make_shared<Origin>();
        if (node.meta.origin != nullptr) *origin = *node.meta.origin;
        origin->from_node = call->meta.origin->from_node;
        node.meta.origin = std::move(origin);
        continue;
      }
      if (node.meta.origin != nullptr && !node.meta.origin->from_node.empty()) continue;
      auto origin = std::make_shared<Origin>();
      if (node.meta.origin != nullptr) *origin = *node.meta.origin;
      // If a getitem does not read from a call, its source node is the node that it reads from.
      const Node* source = &node;
      while (source->is_call() && source->target() == getitem() &&
             source->need(0).node() != nullptr) {
        source = source->args()[0].node();
      }
      Ancestor self;
      self.name = source->name();
      self.target = source->is_call() ? source->target().name() : source->attribute();
      self.graph_id = graph_id;
      origin->from_node.push_back(std::move(self));
      node.meta.origin = std::move(origin);
    }
  });
}

}  // namespace vitrine::aot
