// Groups supported nodes into the largest parts of a graph that a backend can take whole.
#pragma once

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "aot/graph/graph.h"

namespace vitrine::aot {

struct NodePartition {
  size_t id = 0;             // unique in one call; ascending from the end of the graph
  std::vector<Node*> nodes;  // in the order of the graph, at least one
};

struct PartitionNodesOptions {
  // Nodes that must stay together. All nodes of a group count as supported and go into one
  // partition; groups that share a node are merged. A group that cannot be one call, because a node
  // outside lies between its nodes, is left out whole.
  std::vector<std::vector<Node*>> groups;
  // If false, a partition needs two calls besides getitem and aten.view.
  bool single_nodes = true;
};

// Works like torch.fx's CapabilityBasedPartitioner. From the end of the graph, each partition takes
// all supported nodes that it can without a path out of it and back in. Nodes need not be
// connected. If only getitems use a call's results, they go into the call's partition. Partitions
// are convex, each and together: making one call of each leaves no cycle. `supported` may hold
// placeholders; they go into the first partition that can take them. Takes time linear in the
// graph's size for each partition and each group.
std::vector<NodePartition> partition_nodes(Graph& graph,
                                           const std::unordered_set<const Node*>& supported,
                                           const PartitionNodesOptions& options = {});

}  // namespace vitrine::aot
