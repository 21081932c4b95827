// Groups supported nodes into partitions that are as large as possible and can each become one
// delegate.
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
  // Groups of nodes that must stay together. All nodes of a group count as supported and get the
  // same partition. Groups that share a node become one group. If a path leads out of a group and
  // back in, the group cannot be one call, and none of its nodes gets a partition.
  std::vector<std::vector<Node*>> groups;
  // True if a partition may consist of a single call. If false, a partition needs at least two
  // calls other than getitem and aten.view.
  bool single_nodes = true;
};

// Works like torch.fx's CapabilityBasedPartitioner. Starting from the end of the graph, adds to
// each partition all supported nodes that can join without a path out of the partition and back in.
// Nodes of a partition need not be connected. If only getitems use a call's results, they get the
// call's partition. Replacing each partition with one call creates no cycle. `supported` may
// contain placeholders, which get the first partition that they can join. Each partition and each
// group takes time that is linear in the graph's size.
std::vector<NodePartition> partition_nodes(Graph& graph,
                                           const std::unordered_set<const Node*>& supported,
                                           const PartitionNodesOptions& options = {});

}  // namespace vitrine::aot
