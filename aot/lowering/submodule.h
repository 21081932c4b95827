// Taking nodes out of a graph into one of their own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// A part of a graph, and the call that stands in its place there: Target "fused_<tag>", a
// placeholder of `graph` an argument, a result of `graph` an item of its value.
struct Submodule {
  std::unique_ptr<Graph> graph;
  Node* call = nullptr;
};

// Moves `nodes`, all calls (or constants of a control-flow graph) of `graph`, into a graph of their
// own. What they take from outside becomes placeholders, by first use; what others take of them
// becomes results, which others get by getitem, also if there is but one. A single result that is a
// tuple is opened: its items are the results. Then `graph` is sorted anew (fx_order.h).
// `signature`, if given, is the one of `graph`: its results are renamed along.
// An AotError, before anything changes, if a way leads out of the nodes and back in: they are no
// one part then. Nodes need not be connected.
Submodule create_submodule_from_nodes(Graph& graph, std::span<Node* const> nodes,
                                      std::string_view tag, GraphSignature* signature = nullptr);

// Parameters of `owning` that carry the tag first, then its buffers that do, then all others; what
// are inputs of `owning` come in its order. `graph` is of a submodule: its placeholders have the
// names that they have in `owning`.
void arrange_graph_placeholders(Graph& graph, const ExportedProgram& owning, std::string_view tag);

// The call's results in this order: its getitems are renumbered.
void arrange_graph_outputs(Submodule& submodule, std::span<const size_t> order);

}  // namespace vitrine::aot
