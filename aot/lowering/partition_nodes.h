// Groups supported nodes into large partitions. Each partition can become one delegate.
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
  // Groups of nodes that get the same partition and count as supported. Groups that share a node
  // are merged. A group gets no partition if a path leads out of the group and back in.
  std::vector<std::vector<Node*>> groups;
  // True if a partition may be a single call. If false, a partition needs at least two calls other
  // than getitem and aten.view.
  bool single_nodes = true;
};

// Works like torch.fx's CapabilityBasedPartitioner. Goes backward from the end of the graph. Adds
// each supported node to the first partition in which the node does not create a path that leads
// out of the partition and back in. The nodes of a partition need not be connected. If all users of
// a call are getitems, these getitems get the call's partition. Placeholders in `supported` are
// treated like calls. The time for each partition and each group is linear in the graph's size.
std::vector<NodePartition> partition_nodes(Graph& graph,
                                           const std::unordered_set<const Node*>& supported,
                                           const PartitionNodesOptions& options = {});

}  // namespace vitrine::aot
