// The orders that torch.fx leaves nodes and users in when it changes a graph: names and the order
// of instructions depend on them.
#pragma once

#include "aot/graph/graph.h"

namespace vitrine::aot {

// By inputs, first come, first served, as torch.fx's legalize_graph: what computes with numbers
// goes before all else that is ready. AotErrors name a node that waits for what waits for it.
void legalize(Graph& graph);
// As if the graph were copied: users are in order of use.
void settle(Graph& graph);
// All users take `other`, and become the last users of all that they take.
void replace_uses(Node* node, Node* other);

}  // namespace vitrine::aot
