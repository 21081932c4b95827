// Puts nodes and their users into the order that torch.fx produces when it changes a graph. Node
// names and the order of instructions depend on this order.
#pragma once

#include "aot/graph/graph.h"

namespace vitrine::aot {

// Sorts the nodes topologically, like torch.fx's legalize_graph. A node is ready when all its
// inputs are already in the sorted list. Ready nodes that compute or check single numbers come
// first. The other ready nodes follow in the order in which they became ready. If a node depends on
// itself, throws an AotError that names this node.
void legalize(Graph& graph);
// Sorts the users of each node by their position in the graph. This is also the order of users in a
// copy of the graph.
void settle(Graph& graph);
// Makes all users of `node` use `other` instead. Each changed user moves to the end of the user
// lists of all its inputs, as in torch.fx.
void replace_uses(Node* node, Node* other);

}  // namespace vitrine::aot
