#include <unordered_set>

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

bool may_be_written(const ExportedProgram& program, const Node& node) {
  if (node.kind() != Node::Kind::kPlaceholder) return node.is_call();
  const InputSpec* spec = program.input_of(node.name());
  return spec != nullptr && program.is_mutated(*spec);
}

}  // namespace

void reinplace(ExportedProgram& program) {
  const Target index_put = Target::of("aten.index_put.default", Dialect::kEdge);
  const Target in_place = Target::of("aten.index_put_.default", Dialect::kEdge);
  Graph& graph = *program.graph;
  std::unordered_set<const Node*> read_later;
  for (Node* node = &graph.nodes().back(); node != nullptr; node = node->previous()) {
    if (node->calls(index_put)) {
      const Node* written = node->need(0).node();
      if (written != nullptr && !read_later.contains(written) &&
          may_be_written(program, *written)) {
        node->set_target(in_place);
      }
    }
    for (const Node* input : node->inputs()) read_later.insert(input);
  }
}

}  // namespace vitrine::aot
