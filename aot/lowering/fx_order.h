// Reproduces the order of nodes and users that torch.fx leaves after it changes a graph. Names of
// nodes and the order of instructions depend on this order.
#pragma once

#include "aot/graph/graph.h"

namespace vitrine::aot {

// Sorts the nodes topologically, like torch.fx's legalize_graph. A node is ready when all its
// inputs are sorted. Among the ready nodes, operators on numbers come first, and then the nodes
// that became ready first. Throws an AotError that names the node if a node depends on itself.
void legalize(Graph& graph);
// Sorts the users of each node by their position in the graph. This is also the order of users in a
// copy of the graph.
void settle(Graph& graph);
// Replaces `node` with `other` in all users of `node`. Each of these users becomes the last user of
// all its inputs.
void replace_uses(Node* node, Node* other);

}  // namespace vitrine::aot
