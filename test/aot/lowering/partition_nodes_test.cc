#include "aot/lowering/partition_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Target kYes = Target::of("aten.relu.default", Dialect::kEdge);
const Target kNo = Target::of("aten.erf.default", Dialect::kEdge);
const Target kAdd = Target::of("aten.add.Tensor", Dialect::kEdge);
const Target kSplit = Target::of("aten.split_with_sizes_copy.default", Dialect::kEdge);

std::unordered_set<const Node*> all_but(const Graph& graph, Target target) {
  std::unordered_set<const Node*> nodes;
  for (const Node& node : graph.nodes()) {
    if (node.is_call() && !node.calls(target)) nodes.insert(&node);
  }
  return nodes;
}

TEST(PartitionNodes, TakesAllWhereNothingIsInTheWay) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* a = graph.call(kYes, {x});
  Node* b = graph.call(kYes, {a});
  graph.set_output(Argument::tuple({b}));
  const auto found = partition_nodes(graph, all_but(graph, kNo));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, 0U);
  EXPECT_THAT(found[0].nodes, ElementsAre(a, b));
}

TEST(PartitionNodes, SplitsWhereAWayLeadsOutAndBackIn) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* a = graph.call(kYes, {x});
  Node* other = graph.call(kNo, {a});
  Node* sum = graph.call(kAdd, {a, other});
  graph.set_output(Argument::tuple({sum}));
  const auto found = partition_nodes(graph, all_but(graph, kNo));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].nodes, ElementsAre(sum));  // from the end of the graph
  EXPECT_THAT(found[1].nodes, ElementsAre(a));
  EXPECT_LT(found[0].id, found[1].id);
}

TEST(PartitionNodes, JoinsBranchesThatAreNotConnected) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* other = graph.call(kNo, {x});
  Node* a = graph.call(kYes, {other});
  Node* b = graph.call(kYes, {other});
  graph.set_output(Argument::tuple({a, b}));
  const auto found = partition_nodes(graph, all_but(graph, kNo));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].nodes, ElementsAre(a, b));
}

// Two partitions, each convex alone, must not wait for each other.
TEST(PartitionNodes, LeavesNoCycleBetweenPartitions) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* a = graph.call(kYes, {x});
  Node* b = graph.call(kYes, {x});
  Node* past_a = graph.call(kNo, {a});
  Node* past_b = graph.call(kNo, {b});
  Node* c = graph.call(kYes, {past_a});
  Node* d = graph.call(kYes, {past_b});
  graph.set_output(Argument::tuple({c, d}));
  const auto found = partition_nodes(graph, all_but(graph, kNo));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].nodes, ElementsAre(c, d));
  EXPECT_THAT(found[1].nodes, ElementsAre(a, b));
}

TEST(PartitionNodes, GetitemsFollowTheirCall) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* split = graph.call(kSplit, {x});
  Node* first = graph.call(getitem(), {split, 0});
  Node* second = graph.call(getitem(), {split, 1});
  Node* sum = graph.call(kAdd, {first, second});
  graph.set_output(Argument::tuple({sum}));
  auto found = partition_nodes(graph, {split, sum});  // getitems are not passed to it
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].nodes, ElementsAre(sum));
  EXPECT_THAT(found[1].nodes, ElementsAre(split, first, second));
  found = partition_nodes(graph, {first, second, sum});  // the call is not
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].nodes, ElementsAre(sum));
}

TEST(PartitionNodes, SingleNodesMayBeLeftOut) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* a = graph.call(kYes, {x});
  graph.set_output(Argument::tuple({a}));
  PartitionNodesOptions options;
  options.single_nodes = false;
  EXPECT_THAT(partition_nodes(graph, {a}, options), IsEmpty());
  EXPECT_EQ(partition_nodes(graph, {a}).size(), 1U);
}

TEST(PartitionNodes, GroupsStayTogether) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* a = graph.call(kYes, {x});
  Node* other = graph.call(kNo, {x});
  Node* b = graph.call(kAdd, {a, other});
  Node* c = graph.call(kYes, {b});
  Node* after = graph.call(kNo, {c});
  Node* d = graph.call(kYes, {after});
  graph.set_output(Argument::tuple({d}));
  PartitionNodesOptions options;
  options.groups = {{a, b}, {b, c}};  // share b: one group
  const auto found = partition_nodes(graph, {d}, options);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].nodes, ElementsAre(d));
  EXPECT_THAT(found[1].nodes, ElementsAre(a, b, c));
}

TEST(PartitionNodes, GroupsThatCannotBeOneAreLeftOut) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* a = graph.call(kYes, {x});
  Node* between = graph.call(kNo, {a});
  Node* b = graph.call(kAdd, {a, between});
  graph.set_output(Argument::tuple({b}));
  PartitionNodesOptions options;
  options.groups = {{a, b}};
  EXPECT_THAT(partition_nodes(graph, {}, options), IsEmpty());
}

TEST(PartitionNodes, GroupsThatWaitForEachOtherAreNotBothTaken) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* a = graph.call(kYes, {x});
  Node* b = graph.call(kYes, {x});
  Node* c = graph.call(kYes, {b});  // group a, c
  Node* d = graph.call(kYes, {a});  // group b, d
  graph.set_output(Argument::tuple({c, d}));
  PartitionNodesOptions options;
  options.groups = {{a, c}, {b, d}};
  const auto found = partition_nodes(graph, {}, options);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].nodes, ElementsAre(a, c));
}

}  // namespace
}  // namespace vitrine::aot
