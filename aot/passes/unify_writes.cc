// Converts in-place views and Python's in-place operators to forms that later passes support.
#include <unordered_map>

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

// Returns the view operator for an in-place view operator ("t" for "t_"), or null.
const Operator* view_of(Target target) {
  const Operator* op = operator_of(target);
  const Operator* view =
      op == nullptr ? find_functional(target.name()) : find_operator(op->same_as);
  return is_in_place(target) && view != nullptr && view->may_alias() ? view : nullptr;
}

void unify(Graph& graph) {
  std::unordered_map<const Node*, Node*> viewed;  // input of an in-place view -> the view
  for (Node& node : graph.nodes()) {
    if (!viewed.empty()) {
      for (Node* input : node.inputs()) {
        Node* view = input;
        while (viewed.contains(view)) view = viewed.at(view);
        if (view != input) node.replace_input(input, view);
      }
    }
    if (!node.is_call()) continue;
    const Operator* op = operator_of(node.target());
    const Operator* view = view_of(node.target());
    if (view == nullptr) {
      // Python's in-place operators, such as "x |= y".
      if (op != nullptr && op->is_in_place() && !op->same_as.empty()) {
        node.set_target(Target::of(op->same_as));
      }
      continue;
    }
    Node* input = node.args().empty() ? nullptr : node.args()[0].node();
    if (input == nullptr) continue;
    node.set_target(Target::of(view->target));
    viewed[input] = &node;
  }
}

}  // namespace

std::string without_underscore(std::string_view name) {
  const size_t underscore = name.find("_.", name.find('.') + 1);
  return std::string(name.substr(0, underscore)) + std::string(name.substr(underscore + 1));
}

void unify_writes(ExportedProgram& program) {
  for_each_graph(*program.graph, unify);
  const ArgumentList& results = *program.graph->output()->args().at(0).list();
  for (size_t i = 0; i < results.size(); ++i) {
    if (const Node* node = results[i].node()) program.signature.outputs.at(i).name = node->name();
  }
}

}  // namespace vitrine::aot
