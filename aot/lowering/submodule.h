// Moves nodes of a graph into a separate graph.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Nodes that were moved out of a graph, and the call that replaces them. The call's target is
// "fused_<tag>". Its arguments correspond to the placeholders of `graph`, and the items of its
// value correspond to the results of `graph`.
struct Submodule {
  std::unique_ptr<Graph> graph;
  Node* call = nullptr;
};

// Moves `nodes`, which are calls of `graph` (or constants of a control-flow graph), into a new
// graph. Inputs from outside become placeholders, in order of first use. Nodes with users outside
// become results, which the users read with getitems even if there is only one result. If the only
// result is a tuple, its items become the results. Finally sorts `graph` (fx_order.h). `signature`
// is the signature of `graph`, or null. The function also renames the results in the signature.
// Throws AotError, before anything changes, if a path leads out of the nodes and back in. Nodes
// need not be connected.
Submodule create_submodule_from_nodes(Graph& graph, std::span<Node* const> nodes,
                                      std::string_view tag, GraphSignature* signature = nullptr);

// Sorts the placeholders of a submodule's graph: first the parameters of `owning` that have the
// delegation tag `tag`, then its buffers that have this tag, then all others. Placeholders for
// inputs of `owning` keep the order of these inputs. Placeholders have the same names in `graph`
// and in `owning`.
void arrange_graph_placeholders(Graph& graph, const ExportedProgram& owning, std::string_view tag);

// Reorders the results of the submodule's call, and renumbers the call's getitems: result order[i]
// becomes result i.
void arrange_graph_outputs(Submodule& submodule, std::span<const size_t> order);

}  // namespace vitrine::aot
