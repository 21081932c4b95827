// The orders of nodes and users after torch.fx changes a graph. Names and the order of instructions
// depend on them.
#pragma once

#include "aot/graph/graph.h"

namespace vitrine::aot {

// Sorts by inputs, first come, first served, as torch.fx's legalize_graph. Of the nodes that are
// ready, those that compute with numbers go first. AotErrors name a node that depends on itself.
void legalize(Graph& graph);
// Users as in a copy of the graph: in order of use.
void settle(Graph& graph);
// All users use `other` instead, and become the last users of all their inputs.
void replace_uses(Node* node, Node* other);

}  // namespace vitrine::aot
