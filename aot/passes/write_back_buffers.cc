#include <fmt/format.h>

#include "aot/graph/aot_error.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

Node* mutated_input(ExportedProgram& program, const OutputSpec& output) {
  for (const InputSpec& input : program.signature.inputs) {
    const bool matches =
        (output.kind == OutputSpec::Kind::kBufferMutation &&
         input.kind == InputSpec::Kind::kBuffer && input.target == output.target) ||
        (output.kind == OutputSpec::Kind::kParameterMutation &&
         input.kind == InputSpec::Kind::kParameter && input.target == output.target) ||
        (output.kind == OutputSpec::Kind::kUserInputMutation && input.name == output.target);
    if (matches) return program.graph->find(input.name);
  }
  throw AotError(
      fmt::format("result {} mutates \"{}\", which is not an input", output.name, output.target));
}

// Whether the value is in the input's memory already.
bool writes_to(const Node& value, const Node& input) {
  return value.is_call() && value.target().op().ends_with('_') && !value.args().empty() &&
         value.args()[0].node() == &input;
}

}  // namespace

void write_back_buffers(ExportedProgram& program) {
  Node& result = *program.graph->output();
  ArgumentList results = *result.need(0).list();
  for (size_t i = 0; i < results.size(); ++i) {
    OutputSpec& output = program.signature.outputs.at(i);
    if (output.kind != OutputSpec::Kind::kBufferMutation &&
        output.kind != OutputSpec::Kind::kParameterMutation &&
        output.kind != OutputSpec::Kind::kUserInputMutation) {
      continue;
    }
    Node* input = mutated_input(program, output);
    Node* value = results[i].node();
    if (value == nullptr || value == input || writes_to(*value, *input)) continue;
    Node* copy = program.graph->call(Target::of("aten.copy_.default", Dialect::kEdge),
                                     {input, value}, {}, &result);
    copy->meta.value = input->meta.value;  // it has no source
    results[i] = copy;
    output.name = copy->name();
  }
  result.set_args({Argument::tuple(std::move(results))});
}

}  // namespace vitrine::aot
