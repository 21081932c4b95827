// Prints a lowered graph and the graphs inside its delegates as text.
#pragma once

#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::delegation {

// Like ExecuTorch's format_delegated_graph: prints the nodes in torch.fx's form and, under each
// lowered module, its backend and its original graph. Does not print subgraphs of control flow.
std::string format_delegated_graph(const aot::Graph& graph);

// Returns the program as a graph in Graphviz's dot format. Each call is a box with its operator and
// shape, each delegate is a cluster around its original graph, and each subgraph of control flow is
// a dashed cluster. Omits weights.
std::string format_graphviz(const aot::ExportedProgram& program);

}  // namespace vitrine::delegation
