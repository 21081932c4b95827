// Reproduces the order of nodes and users that torch.fx has after it changes a graph. Names and the
// order of instructions depend on it.
#pragma once

#include "aot/graph/graph.h"

namespace vitrine::aot {

// Sorts topologically, like torch.fx's legalize_graph: among the nodes whose inputs are sorted,
// takes operators on numbers first, and then the nodes that became ready first. Throws AotError
// that names a node if it depends on itself.
void legalize(Graph& graph);
// Sorts the users of each node by their position in the graph, as in a copy of the graph.
void settle(Graph& graph);
// Replaces `node` by `other` in all its users. The users become the last users of all their inputs.
void replace_uses(Node* node, Node* other);

}  // namespace vitrine::aot
