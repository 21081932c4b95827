#include "aot/passes/passes.h"

namespace vitrine::aot {

void remove_dead_code(ExportedProgram& program) { program.graph->remove_dead_code(); }

void remove_unused_parameters(ExportedProgram& program) {
  for (Node* node : program.graph->placeholders()) {
    const InputSpec* spec = program.input_of(node->name());
    if (spec->kind == InputSpec::Kind::kParameter && node->users().empty()) {
      program.remove_input(node);
    }
  }
}

}  // namespace vitrine::aot
