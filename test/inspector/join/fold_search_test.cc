#include "inspector/join/fold_search.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace vitrine::inspector {
namespace {

using etrecord::DebugHandle;
using etrecord::EdgeGraph;

// Returns a graph of six nodes with the handles 1 to 6: a chain of five, and one separate node.
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

const std::set<DebugHandle> kAllHandles = {1, 2, 3, 4, 5, 6};

TEST(FoldSearch, PrefersProducersOverUsers) {
  const EdgeGraph graph = chain();
  const FoldSearch search(graph);
  const HandleRows rows = {{2, {7}}, {5, {9}}};
  EXPECT_EQ(search.find(4, kAllHandles, rows), 7u) << "although 5 is nearer";
  EXPECT_EQ(search.find(1, kAllHandles, rows), 7u) << "1 has no producer";
}

TEST(FoldSearch, ReturnsTheNearestOfSeveralRows) {
  const EdgeGraph graph = chain();
  const FoldSearch search(graph);
  const HandleRows rows = {{2, {6, 7, 8}}};
  EXPECT_EQ(search.find(3, kAllHandles, rows), 8u);
  EXPECT_EQ(search.find(1, kAllHandles, rows), 6u);
}

TEST(FoldSearch, SearchesOnlyWithinTheDelegateCall) {
  const EdgeGraph graph = chain();
  const HandleRows rows = {{2, {7}}, {5, {9}}};
  EXPECT_EQ(FoldSearch(graph).find(4, {1, 2, 4, 5}, rows), 9u) << "3 is not in the call";
}

TEST(FoldSearch, FallsBackToTheNearestNodeInGraphOrder) {
  const EdgeGraph graph = chain();
  const FoldSearch search(graph);
  EXPECT_EQ(search.find(6, kAllHandles, {{2, {7}}, {5, {9}}, {70, {1}}}), 9u);
  EXPECT_EQ(search.find(6, kAllHandles, {}), std::nullopt);
  EXPECT_EQ(search.find(70, kAllHandles, {{2, {7}}}), std::nullopt) << "no node has the handle 70";
}

}  // namespace
}  // namespace vitrine::inspector
