// Checks costs of real graphs of the corpus against values computed by hand from their shapes.
#include "inspector/join/cost.h"

#include <gtest/gtest.h>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/op_names.h"
#include "test/support/corpus.h"

namespace vitrine::inspector {
namespace {

using etrecord::EdgeGraph;

const EdgeGraph graph_of(const std::filesystem::path& folder) {
  return etrecord::read_etrecord(folder / "etrecord.bin").methods.at("forward").graph;
}

double flops_of_ops(const EdgeGraph& graph, std::string_view op) {
  double sum = 0;
  for (const etrecord::EdgeNode& node : graph.nodes) {
    if (base_name(node.target) == op) sum += flops_of(node, graph).value();
  }
  return sum;
}

// At 224x224, MobileNetV2 has 299.49 million multiply-adds in its convolutions, and 1280 * 1000 in
// its classifier. The sum agrees with the 300 million in table 4 of Sandler et al. 2018.
TEST(Cost, MultiplyAddCountOfMobileNetV2MatchesThePaper) {
  VITRINE_CORPUS_CASE(folder, "mv2_xnnpack");
  const EdgeGraph graph = graph_of(folder);
  EXPECT_DOUBLE_EQ(flops_of_ops(graph, "linear") + flops_of_ops(graph, "addmm"), 2 * 1280 * 1000.0);
  EXPECT_NEAR(flops_of_ops(graph, "convolution") / 2e6, 299.5, 0.2);
}

TEST(Cost, HasAFormulaForEveryOpOfThreeCorpusModels) {
  VITRINE_CORPUS_CASE(corpus, "");
  for (const char* name : {"mv2_xnnpack", "linear_relu", "conv_relu_tan_xnnpack"}) {
    const EdgeGraph graph = graph_of(corpus / name);
    for (const etrecord::EdgeNode& node : graph.nodes) {
      EXPECT_TRUE(flops_of(node, graph).has_value()) << node.target;
    }
  }
}

// linear(16 -> 8), relu, linear(8 -> 5) on a batch of 4, float32.
TEST(Cost, CountsBytesReadAndWrittenByARow) {
  VITRINE_CORPUS_CASE(folder, "linear_relu");
  const EdgeGraph graph = graph_of(folder);
  ASSERT_EQ(graph.nodes.size(), 3u);
  std::vector<RowSource> rows(2);
  rows[0].nodes = {0};
  rows[0].folded_nodes = {1};
  rows[1].nodes = {2};
  const auto costs = row_costs(rows, graph);
  ASSERT_TRUE(costs[0].has_value() && costs[1].has_value());
  EXPECT_DOUBLE_EQ(costs[0]->flops, 2.0 * 4 * 8 * 16) << "the folded relu is free";
  EXPECT_DOUBLE_EQ(costs[0]->bytes, 4.0 * (4 * 16 + 8 * 16 + 8 + 4 * 8));
  EXPECT_DOUBLE_EQ(costs[1]->bytes, 4.0 * (4 * 8 + 5 * 8 + 5 + 4 * 5));
  EXPECT_TRUE(costs[0]->is_float32);
}

TEST(Cost, ReturnsNoneForUnknownShapes) {
  VITRINE_CORPUS_CASE(folder, "dynamic_batch_xnnpack");
  const EdgeGraph graph = graph_of(folder);
  for (const etrecord::EdgeNode& node : graph.nodes) {
    EXPECT_FALSE(flops_of(node, graph).has_value()) << node.target;
  }
}

TEST(Cost, ReturnsNoneForRowsThatShareNodes) {
  VITRINE_CORPUS_CASE(folder, "linear_relu");
  const EdgeGraph graph = graph_of(folder);
  std::vector<RowSource> rows(3);
  rows[0].nodes = rows[1].nodes = {0};
  rows[2].nodes = {2};
  rows[2].has_all_ops_of_call = true;
  for (const auto& cost : row_costs(rows, graph)) EXPECT_FALSE(cost.has_value());
}

TEST(ShareOfMachineLimits, DividesTheShortestPossibleTimeByTheMeasuredTime) {
  const MachineLimits limits = {
      .flops_per_s = 8e9, .bytes_per_s = 2e9, .threads = 1, .machine = {}};
  // In the first case, the arithmetic takes at least 4000 ns, and the memory traffic takes at least
  // 1000 ns. In the second case, the memory traffic takes at least 6000 ns.
  const double ns = 5000;
  EXPECT_DOUBLE_EQ(
      share_of_limits({.flops = 32e3, .bytes = 2e3, .is_float32 = true}, ns, limits).value(),
      4000 / ns);
  EXPECT_DOUBLE_EQ(
      share_of_limits({.flops = 32e3, .bytes = 12e3, .is_float32 = true}, ns, limits).value(),
      6000 / ns);
  EXPECT_DOUBLE_EQ(share_of_limits({.bytes = 2e3}, ns, limits).value(), 1000 / ns);
}

TEST(ShareOfMachineLimits, IsUnsetIfALimitIsUnknown) {
  const Cost cost = {.flops = 1, .bytes = 1, .is_float32 = true};
  const MachineLimits limits = {.flops_per_s = 1, .bytes_per_s = 1, .threads = 1, .machine = {}};
  MachineLimits no_flops = limits, no_bytes = limits;
  no_flops.flops_per_s = 0;
  no_bytes.bytes_per_s = 0;
  EXPECT_TRUE(share_of_limits(cost, 1, limits).has_value());
  EXPECT_FALSE(share_of_limits(cost, 0, limits).has_value());
  EXPECT_FALSE(share_of_limits(cost, 1, no_flops).has_value());
  EXPECT_FALSE(share_of_limits(cost, 1, no_bytes).has_value());
  EXPECT_FALSE(share_of_limits({.flops = 1, .bytes = 1}, 1, limits).has_value()) << "not float32";
}

}  // namespace
}  // namespace vitrine::inspector
