// Checks the invariants of graph.h and exported_program.h. Runs after every pass.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// AotErrors name the node and what is wrong with it.
void lint(const Graph& graph);
// Checks the graph, and that signature, weights and symbols match it.
void lint(const ExportedProgram& program);

}  // namespace vitrine::aot
