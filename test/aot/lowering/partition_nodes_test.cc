#include "aot/lowering/partition_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Target kSupported = Target::of("aten.relu.default", Dialect::kEdge);
const Target kUnsupported = Target::of("aten.erf.default", Dialect::kEdge);
const Target kAdd = Target::of("aten.add.Tensor", Dialect::kEdge);
const Target kSplit = Target::of("aten.split_with_sizes_copy.default", Dialect::kEdge);

// Matches a partition with these nodes.
template <class... Nodes>
auto HasNodes(Nodes... nodes) {
  return testing::Field(&NodePartition::nodes, ElementsAre(nodes...));
}

struct PartitionNodes : testing::Test {
  Graph graph;
  Node* x = graph.placeholder("x");

  // Partitions the calls whose target is not kUnsupported.
  std::vector<NodePartition> partition_supported() {
    std::unordered_set<const Node*> nodes;
    for (const Node& node : graph.nodes()) {
      if (node.is_call() && !node.calls(kUnsupported)) nodes.insert(&node);
    }
    return partition_nodes(graph, nodes);
  }
};

TEST_F(PartitionNodes, JoinsConnectedAndUnconnectedSupportedNodes) {
  Node* other = graph.call(kUnsupported, {x});
  Node* a = graph.call(kSupported, {other});
  Node* b = graph.call(kSupported, {a});
  Node* c = graph.call(kSupported, {other});
  graph.set_output(Argument::tuple({b, c}));
  const auto found = partition_supported();
  EXPECT_THAT(found, ElementsAre(HasNodes(a, b, c)));
  EXPECT_EQ(found.at(0).id, 0U);
}

TEST_F(PartitionNodes, SplitsPartitionIfAPathLeavesAndReentersIt) {
  Node* a = graph.call(kSupported, {x});
  Node* other = graph.call(kUnsupported, {a});
  Node* sum = graph.call(kAdd, {a, other});
  graph.set_output(Argument::tuple({sum}));
  const auto found = partition_supported();
  // Partitions are numbered from the end of the graph.
  EXPECT_THAT(found, ElementsAre(HasNodes(sum), HasNodes(a)));
  EXPECT_LT(found.at(0).id, found.at(1).id);
}

// The partitions {a, d} and {b, c} would each be convex, but each would need a result of the other.
TEST_F(PartitionNodes, PartitionsNeverFormACycle) {
  Node* a = graph.call(kSupported, {x});
  Node* b = graph.call(kSupported, {x});
  Node* past_a = graph.call(kUnsupported, {a});
  Node* past_b = graph.call(kUnsupported, {b});
  Node* c = graph.call(kSupported, {past_a});
  Node* d = graph.call(kSupported, {past_b});
  graph.set_output(Argument::tuple({c, d}));
  EXPECT_THAT(partition_supported(), ElementsAre(HasNodes(c, d), HasNodes(a, b)));
}

TEST_F(PartitionNodes, GetitemsJoinThePartitionOfTheirCall) {
  Node* split = graph.call(kSplit, {x});
  Node* first = graph.call(getitem(), {split, 0});
  Node* second = graph.call(getitem(), {split, 1});
  Node* sum = graph.call(kAdd, {first, second});
  graph.set_output(Argument::tuple({sum}));
  // The set of supported nodes contains the call, but not its getitems.
  EXPECT_THAT(partition_nodes(graph, {split, sum}),
              ElementsAre(HasNodes(sum), HasNodes(split, first, second)));
  // The set contains the getitems, but not their call.
  EXPECT_THAT(partition_nodes(graph, {first, second, sum}), ElementsAre(HasNodes(sum)));
}

TEST_F(PartitionNodes, OmitsSingleNodePartitionsOnRequest) {
  Node* a = graph.call(kSupported, {x});
  graph.set_output(Argument::tuple({a}));
  PartitionNodesOptions options;
  options.single_nodes = false;
  EXPECT_THAT(partition_nodes(graph, {a}, options), IsEmpty());
  EXPECT_EQ(partition_nodes(graph, {a}).size(), 1U);
}

TEST_F(PartitionNodes, NodesOfAGroupGetTheSamePartition) {
  Node* a = graph.call(kSupported, {x});
  Node* other = graph.call(kUnsupported, {x});
  Node* b = graph.call(kAdd, {a, other});
  Node* c = graph.call(kSupported, {b});
  Node* after = graph.call(kUnsupported, {c});
  Node* d = graph.call(kSupported, {after});
  graph.set_output(Argument::tuple({d}));
  PartitionNodesOptions options;
  options.groups = {{a, b}, {b, c}};  // merged, since both contain b
  EXPECT_THAT(partition_nodes(graph, {d}, options), ElementsAre(HasNodes(d), HasNodes(a, b, c)));
}

TEST_F(PartitionNodes, OmitsAGroupIfAPathLeavesAndReentersIt) {
  Node* a = graph.call(kSupported, {x});
  Node* between = graph.call(kUnsupported, {a});
  Node* b = graph.call(kAdd, {a, between});
  graph.set_output(Argument::tuple({b}));
  PartitionNodesOptions options;
  options.groups = {{a, b}};
  EXPECT_THAT(partition_nodes(graph, {}, options), IsEmpty());
}

TEST_F(PartitionNodes, KeepsOnlyOneOfMutuallyDependentGroups) {
  Node* a = graph.call(kSupported, {x});
  Node* b = graph.call(kSupported, {x});
  Node* c = graph.call(kSupported, {b});  // group a, c
  Node* d = graph.call(kSupported, {a});  // group b, d
  graph.set_output(Argument::tuple({c, d}));
  PartitionNodesOptions options;
  options.groups = {{a, c}, {b, d}};
  EXPECT_THAT(partition_nodes(graph, {}, options), ElementsAre(HasNodes(a, c)));
}

}  // namespace
}  // namespace vitrine::aot
