#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

// Operators that keep their ATen targets in the edge dialect.
constexpr std::array<std::string_view, 6> kUnwrapped = {
    "aten.scalar_tensor.default", "aten.sym_size.int",           "aten.sym_stride.int",
    "aten.sym_numel.default",     "aten._assert_scalar.default", "aten._assert_async.msg"};

void name_subgraphs(Graph& graph) {
  std::map<std::string, std::unique_ptr<Graph>, std::less<>> renamed;
  size_t number = 0;
  for (Node* node = &graph.nodes().front(); node != nullptr;) {
    Node* next = node->next();
    if (node->kind() == Node::Kind::kGetAttr && graph.subgraphs().contains(node->attribute())) {
      const std::string name = fmt::format("submodule_{}", number++);
      renamed[name] = std::move(graph.subgraphs().at(node->attribute()));
      Node* made = graph.get_attr(name, node);
      made->meta = node->meta;
      node->replace_all_uses_with(made);
      graph.erase(node);
    }
    node = next;
  }
  graph.subgraphs() = std::move(renamed);
}

}  // namespace

void to_edge_targets(ExportedProgram& program) {
  for_each_call(*program.graph, [](Node& node) {
    const Target target = node.target();
    if (target.dialect() != Dialect::kAten || std::ranges::count(kUnwrapped, target.name()) != 0) {
      return;
    }
    node.set_target(target.in(Dialect::kEdge));
  });
}

void to_edge_dialect(ExportedProgram& program) {
  to_edge_targets(program);
  for_each_graph(*program.graph, [](Graph& graph) {
    name_subgraphs(graph);
    graph.rename_all([](const Node& node) {
      return node.is_call()
                 ? default_name(node.target())
                 : (node.kind() == Node::Kind::kGetAttr ? node.attribute() : node.name());
    });
  });
  const ArgumentList& results = *program.graph->output()->need(0).list();
  for (size_t i = 0; i < results.size(); ++i) {
    if (const Node* node = results[i].node()) program.signature.outputs.at(i).name = node->name();
  }
  const std::vector<Node*> inputs = program.graph->placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    program.signature.inputs.at(i).name = inputs[i]->name();
  }
}

}  // namespace vitrine::aot
