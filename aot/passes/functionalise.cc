#include <fmt/format.h>

#include "aot/graph/aot_error.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

bool writes_to_argument(const Node& node) {
  const std::string_view op = node.target().op();
  return node.target().dialect() == Dialect::kAten && op.ends_with('_') && !op.ends_with("__");
}

// Users of `node` that come after `place` take `other`.
void replace_later_uses(Node& node, Node& place, Node& other) {
  for (Node* after = place.next(); after != nullptr; after = after->next()) {
    if (after != &other) after->replace_input(&node, &other);
  }
}

// Tells the signature that the input behind `node` ends as `value`.
void add_mutation(ExportedProgram& program, const Node& node, Node& value) {
  const InputSpec* input = program.input_of(node.name());
  OutputSpec mutation;
  mutation.name = value.name();
  mutation.target = input->target;
  mutation.kind = OutputSpec::Kind::kBufferMutation;
  if (input->kind == InputSpec::Kind::kParameter) {
    mutation.kind = OutputSpec::Kind::kParameterMutation;
  } else if (input->kind == InputSpec::Kind::kUserInput) {
    mutation.kind = OutputSpec::Kind::kUserInputMutation;
    mutation.target = node.name();
  }
  // Mutations stand before the user outputs, in the order of the inputs.
  ArgumentList results = *program.graph->output()->args().at(0).list();
  size_t place = 0;
  for (const InputSpec& spec : program.signature.inputs) {
    if (spec.name == node.name()) break;
    for (const OutputSpec& output : program.signature.outputs) {
      if (output.kind == OutputSpec::Kind::kUserOutput) continue;
      place += output.target == (spec.target.empty() ? spec.name : spec.target) ? 1 : 0;
    }
  }
  results.insert(results.begin() + static_cast<std::ptrdiff_t>(place), &value);
  program.signature.outputs.insert(
      program.signature.outputs.begin() + static_cast<std::ptrdiff_t>(place), mutation);
  program.graph->output()->set_args({Argument::tuple(std::move(results))});
}

}  // namespace

void functionalise(ExportedProgram& program) {
  std::vector<std::pair<Node*, Node*>> mutated;  // inputs and what they end as
  for_each_call(*program.graph, [&](Node& node) {
    if (!writes_to_argument(node)) return;
    Node* written = node.args().at(0).node();
    if (written == nullptr || written->tensor() == nullptr) {
      throw AotError(fmt::format("node {}: writes to something that is no tensor", node.name()));
    }
    // A copy of the same kind is its source; it converts or repeats otherwise.
    Node* value = &node;
    Node* source = node.target().is("aten.copy_.default") ? node.args().at(1).node() : nullptr;
    if (source != nullptr && source->tensor() != nullptr &&
        source->tensor()->dtype == written->tensor()->dtype &&
        source->tensor()->sizes == written->tensor()->sizes) {
      value = source;
    }
    const std::string name(node.target().name());
    const size_t underscore = name.find("_.", name.find('.') + 1);
    node.set_target(Target::of(name.substr(0, underscore) + name.substr(underscore + 1)));
    replace_later_uses(*written, node, *value);
    if (value != &node) node.replace_all_uses_with(value);
    for (auto& [input, last] : mutated) {
      if (last == written) {
        last = value;
        return;
      }
    }
    if (written->kind() != Node::Kind::kPlaceholder) return;
    if (&written->graph() != program.graph.get()) {
      throw AotError(fmt::format("node {}: a branch writes to its input", node.name()));
    }
    mutated.emplace_back(written, value);
  });
  for (const auto& [input, value] : mutated) add_mutation(program, *input, *value);
  // What returned the mutated tensor returns its successor now.
  const ArgumentList& results = *program.graph->output()->args().at(0).list();
  for (size_t i = 0; i < results.size(); ++i) {
    const Node* node = results[i].node();
    program.signature.outputs.at(i).name = node == nullptr ? "" : node->name();
  }
}

}  // namespace vitrine::aot
