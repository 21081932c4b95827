// Whether a graph keeps the promises of graph.h and exported_program.h. For after every pass.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// AotErrors name the node and what is wrong with it.
void lint(const Graph& graph);
// The graph, and that signature, weights and symbols fit it.
void lint(const ExportedProgram& program);

}  // namespace vitrine::aot
