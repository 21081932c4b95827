// Supported nodes -> the largest parts of a graph that a backend can take whole.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

#include "aot/graph/graph.h"

namespace vitrine::aot {

struct NodePartition {
  size_t id = 0;             // unique in one call; ascending from the end of the graph
  std::vector<Node*> nodes;  // in the order of the graph, at least one
};

struct PartitionNodesOptions {
  // Nodes that only make sense together. All of a group are taken as supported and come into one
  // partition; groups that share a node are one group. A group that cannot be called as one,
  // since something outside stands between its nodes, is left out whole.
  std::vector<std::vector<Node*>> groups;
  // Otherwise partitions need two calls besides getitem and aten.view.
  bool single_nodes = true;
};

// As torch.fx's CapabilityBasedPartitioner. From the end of the graph, each partition takes all
// supported nodes that it can without a path out of it and back in. Nodes need not be connected.
// The results of a call that only getitem takes go where the call goes. Partitions are convex,
// alone and together: calling each as one leaves no cycle. `supported` may hold placeholders, which
// come with the first partition that can have them. Time is linear in the graph's size for each
// partition and each group.
std::vector<NodePartition> partition_nodes(Graph& graph,
                                           const std::unordered_set<const Node*>& supported,
                                           const PartitionNodesOptions& options = {});

}  // namespace vitrine::aot
