// Moves nodes of a graph into a separate graph.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Moved nodes, and the call that replaces them. The call's target is "fused_<tag>". The call's
// arguments match the placeholders of `graph`, and the items of the call's value match the results
// of `graph`.
struct Submodule {
  std::unique_ptr<Graph> graph;
  Node* call = nullptr;
};

// Moves `nodes` into a new graph, and replaces them with one call. The nodes must be calls of
// `graph`, or get_attr nodes of a control-flow graph. The nodes need not be connected.
//
// Inputs from outside become placeholders, in order of first use. Nodes with users outside become
// results, which the users read with getitems even if there is only one result. If the only result
// is a tuple, its items become the results. Finally sorts `graph` (fx_order.h).
//
// If `signature` is not null, it must be the signature of `graph`. An output of the signature that
// names a moved node gets the name of the getitem that replaces this node.
//
// Throws AotError, before anything changes, if a path leads out of the nodes and back in.
Submodule create_submodule_from_nodes(Graph& graph, std::span<Node* const> nodes,
                                      std::string_view tag, GraphSignature* signature = nullptr);

// Sorts the placeholders of a submodule's graph: parameters of `owning` with the delegation tag
// `tag`, then buffers of `owning` with this tag, then all others. Within these groups, the order of
// `owning` applies. Inputs of `owning` must have the same names in `graph`.
void arrange_graph_placeholders(Graph& graph, const ExportedProgram& owning, std::string_view tag);

// Reorders the results and getitems of the call. New result i is the old result order[i].
void arrange_graph_outputs(Submodule& submodule, std::span<const size_t> order);

}  // namespace vitrine::aot
