// Copies what a loop carries from one place to another, which would be overwritten before it is
// read: (a, b) -> (b, a).
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

void copy_carried(const Node& loop, Graph& body) {
  const Argument* inits = loop.arg(1);
  const ArgumentList* given = body.output()->need(0).list();
  if (inits == nullptr || inits->list() == nullptr || given == nullptr) return;
  ArgumentList results = *given;
  const std::vector<Node*> inputs = body.placeholders();
  for (size_t i = 0; i < results.size() && i < inits->list()->size(); ++i) {
    Node* result = results[i].node();
    const bool is_input = result != nullptr && result->kind() == Node::Kind::kPlaceholder;
    if (!is_input || (i < inputs.size() && result == inputs[i])) continue;
    Node* copy = insert_like(*body.output(), clone_target(), {result}, {}, result->meta.value);
    copy->meta.origin = loop.meta.origin;
    results[i] = copy;
  }
  body.output()->set_args(
      {given->empty() ? body.output()->need(0) : Argument::tuple(std::move(results))});
}

}  // namespace

void copy_carried(ExportedProgram& program) {
  for_each_call(*program.graph, [](Node& node) {
    if (!node.target().is("scan")) return;
    const Node* body = node.need(0).node();
    const auto found = body == nullptr ? node.graph().subgraphs().end()
                                       : node.graph().subgraphs().find(body->attribute());
    if (found != node.graph().subgraphs().end()) copy_carried(node, *found->second);
  });
}

}  // namespace vitrine::aot
