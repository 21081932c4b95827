// Puts nodes and their users into the order that torch.fx would produce. Node names and the order
// of instructions depend on this order.
#pragma once

#include "aot/graph/graph.h"

namespace vitrine::aot {

// Sorts nodes topologically, like torch.fx's legalize_graph. A node is ready when all its inputs
// are sorted. Ready nodes that compute or check single numbers come first. The other ready nodes
// follow in the order in which they became ready. Throws an AotError that names a node that depends
// on itself.
void legalize(Graph& graph);
// Sorts the users of each node by position, as in a copy of the graph.
void settle(Graph& graph);
// Makes all users of `node` use `other`. As in torch.fx, each changed user moves to the end of the
// user lists of its inputs.
void replace_uses(Node* node, Node* other);

}  // namespace vitrine::aot
