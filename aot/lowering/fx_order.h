// The orders that torch.fx leaves nodes and users in when it changes a graph: names and the order
// of instructions depend on them.
#pragma once

#include <vector>

#include "aot/graph/graph.h"

namespace vitrine::aot {

// By the inputs among `nodes`, first come, first served, as torch.fx's topo_sort.
std::vector<Node*> sort_nodes(const std::vector<Node*>& nodes);
// The whole graph in the same way, as torch.fx's legalize_graph: what computes with numbers goes
// before all else that is ready. AotErrors name nodes that wait for each other.
void legalize(Graph& graph);
// As if the graph were copied: users are in order of use.
void settle(Graph& graph);
// All users take `other`, and become the last users of all that they take.
void replace_uses(Node* node, Node* other);

}  // namespace vitrine::aot
