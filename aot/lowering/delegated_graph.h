// Prints a lowered graph and the graphs inside its delegates as text.
#pragma once

#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::delegation {

// Like ExecuTorch's format_delegated_graph: prints the nodes in torch.fx's form and, under each
// lowered module, its backend and original graph. Omits subgraphs of control flow.
std::string format_delegated_graph(const aot::Graph& graph);

// Returns the program in Graphviz's dot format: calls are boxes, delegates are clusters, and
// subgraphs of control flow are dashed clusters. Omits weights.
std::string format_graphviz(const aot::ExportedProgram& program);

}  // namespace vitrine::delegation
