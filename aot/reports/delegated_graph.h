// Prints a lowered graph and the graphs inside its delegates as text.
#pragma once

#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::delegation {

// As ExecuTorch's format_delegated_graph: torch.fx's lines, and under each lowered module its
// backend and its original graph. Subgraphs of control flow are not shown.
std::string format_delegated_graph(const aot::Graph& graph);

// For Graphviz's dot: calls as boxes with operator and shape, each delegate a cluster around its
// original graph, each subgraph of control flow a dashed one. Weights are left out.
std::string format_graphviz(const aot::ExportedProgram& program);

}  // namespace vitrine::delegation
