#include "inspector/join/fold_search.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace vitrine::inspector {
namespace {

using etrecord::DebugHandle;
using etrecord::EdgeGraph;

// Nodes of the handles 1, 2, ...: a chain of five, and one that nothing links to it.
EdgeGraph chain() {
  EdgeGraph graph;
  for (DebugHandle handle = 1; handle <= 6; ++handle) {
    etrecord::EdgeNode node;
    node.debug_handle = handle;
    if (handle > 1 && handle < 6) node.inputs = {handle - 2};
    graph.nodes_of_handle[handle] = {graph.nodes.size()};
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

const std::set<DebugHandle> kWhole = {1, 2, 3, 4, 5, 6};

TEST(FoldSearch, GoesToTheProducerElseToTheUser) {
  const EdgeGraph graph = chain();
  const FoldSearch search(graph);
  const HandleRows rows = {{2, {7}}, {5, {9}}};
  EXPECT_EQ(search.find(4, kWhole, rows), 7u) << "though 5 is nearer";
  EXPECT_EQ(search.find(1, kWhole, rows), 7u) << "nothing comes before it";
}

TEST(FoldSearch, OfSeveralRowsTheNearestCounts) {
  const EdgeGraph graph = chain();
  const FoldSearch search(graph);
  const HandleRows rows = {{2, {6, 7, 8}}};
  EXPECT_EQ(search.find(3, kWhole, rows), 8u);
  EXPECT_EQ(search.find(1, kWhole, rows), 6u);
}

TEST(FoldSearch, StaysWithinTheCall) {
  const EdgeGraph graph = chain();
  const HandleRows rows = {{2, {7}}, {5, {9}}};
  EXPECT_EQ(FoldSearch(graph).find(4, {1, 2, 4, 5}, rows), 9u) << "3 runs elsewhere";
}

TEST(FoldSearch, WithoutAWayTheNearestInOrderCounts) {
  const EdgeGraph graph = chain();
  const FoldSearch search(graph);
  EXPECT_EQ(search.find(6, kWhole, {{2, {7}}, {5, {9}}, {70, {1}}}), 9u);
  EXPECT_EQ(search.find(6, kWhole, {}), std::nullopt);
  EXPECT_EQ(search.find(70, kWhole, {{2, {7}}}), std::nullopt) << "no node has it";
}

}  // namespace
}  // namespace vitrine::inspector
