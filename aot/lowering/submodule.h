// Moves nodes of a graph into a separate graph.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// A part of a graph, and the call that replaces it there. The call's target is "fused_<tag>"; its
// arguments correspond to the placeholders of `graph`, the items of its value to the results.
struct Submodule {
  std::unique_ptr<Graph> graph;
  Node* call = nullptr;
};

// Moves `nodes`, which are calls (or constants of a control-flow graph) of `graph`, into a new
// graph. Inputs from outside become placeholders, by first use. Nodes that others use become
// results, which the others get by getitem, even a single one. If the only result is a tuple, its
// items become the results. Then sorts `graph` (fx_order.h). `signature`, if given, is the
// signature of `graph`; its results are renamed too. Throws AotError, before anything changes, if a
// path leads out of the nodes and back in. Nodes need not be connected.
Submodule create_submodule_from_nodes(Graph& graph, std::span<Node* const> nodes,
                                      std::string_view tag, GraphSignature* signature = nullptr);

// Sorts placeholders: parameters of `owning` with the tag first, then its buffers with the tag,
// then all others; inputs of `owning` keep its order. `graph` belongs to a submodule; its
// placeholders have the same names in `owning`.
void arrange_graph_placeholders(Graph& graph, const ExportedProgram& owning, std::string_view tag);

// Puts the call's results into this order and renumbers its getitems.
void arrange_graph_outputs(Submodule& submodule, std::span<const size_t> order);

}  // namespace vitrine::aot
