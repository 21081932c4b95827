// Checks that graphs and programs are consistent. Runs after every pass.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Throws an AotError that names the node and the inconsistency.
void lint(const Graph& graph);
// Checks the program's graph, and that the signature, weights and symbols match the graph.
void lint(const ExportedProgram& program);

}  // namespace vitrine::aot
