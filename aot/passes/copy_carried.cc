// Copies results of loop bodies that are views, and inputs that the body returns at another
// position, as in (a, b) -> (b, a). Otherwise, the loop could overwrite a value before reading it.
#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

void copy_carried_values(const Node& loop, const Argument* inits, Graph& body) {
  const ArgumentList* returned = body.output()->need(0).list();
  if (inits == nullptr || inits->list() == nullptr || returned == nullptr) return;
  ArgumentList results = *returned;
  const std::vector<Node*> inputs = body.placeholders();
  for (size_t i = 0; i < results.size() && i < inits->list()->size(); ++i) {
    Node* result = results[i].node();
    if (result == nullptr || (i < inputs.size() && result == inputs[i])) continue;
    // A later pass may turn a "_copy" call into a view of another value.
    const bool is_view = result->is_call() && result->target().op().ends_with("_copy");
    if (!is_view && result->kind() != Node::Kind::kPlaceholder) continue;
    Node* copy = insert_like(*body.output(), clone_target(), {result}, {}, result->meta.value);
    copy->meta.origin = loop.meta.origin;
    results[i] = copy;
  }
  body.output()->set_args(
      {returned->empty() ? body.output()->need(0) : Argument::tuple(std::move(results))});
}

}  // namespace

void copy_carried(ExportedProgram& program) {
  for_each_call(*program.graph, [](Node& node) {
    const bool is_while = node.target().is("while_loop");
    if (!is_while && !node.target().is("scan")) return;
    const Node* body = node.need(is_while ? 1 : 0).node();
    const auto found = body == nullptr ? node.graph().subgraphs().end()
                                       : node.graph().subgraphs().find(body->attribute());
    if (found != node.graph().subgraphs().end()) {
      copy_carried_values(node, node.arg(is_while ? 2 : 1), *found->second);
    }
  });
}

}  // namespace vitrine::aot
