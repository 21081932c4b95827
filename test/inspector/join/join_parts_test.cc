#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/profiles/xnnpack_profile.h"
#include "inspector/join/fold_search.h"
#include "inspector/join/memory_use.h"
#include "inspector/join/op_names.h"
#include "inspector/join/operator_map_choice.h"
#include "inspector/join/order_match.h"
#include "inspector/join/profile.h"
#include "inspector/join/statistics.h"

namespace vitrine::inspector {
namespace {

using etrecord::DebugHandle;
using etrecord::EdgeGraph;
using testing::ElementsAre;
using testing::HasSubstr;

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

std::optional<size_t> found_row(DebugHandle handle, const HandleRows& rows,
                                const std::set<DebugHandle>& handles = {1, 2, 3, 4, 5, 6}) {
  const EdgeGraph graph = chain();
  return FoldSearch(graph).find(handle, handles, rows);
}

TEST(FoldSearch, PrefersProducersOverUsers) {
  EXPECT_EQ(found_row(4, {{2, {7}}, {5, {9}}}), 7u) << "although 5 is nearer";
  EXPECT_EQ(found_row(1, {{2, {7}}, {5, {9}}}), 7u) << "1 has no producer";
}

TEST(FoldSearch, ReturnsTheNearestOfSeveralRows) {
  EXPECT_EQ(found_row(3, {{2, {6, 7, 8}}}), 8u);
  EXPECT_EQ(found_row(1, {{2, {6, 7, 8}}}), 6u);
}

TEST(FoldSearch, SearchesOnlyWithinTheDelegateCall) {
  EXPECT_EQ(found_row(4, {{2, {7}}, {5, {9}}}, {1, 2, 4, 5}), 9u) << "3 is not in the call";
}

TEST(FoldSearch, FallsBackToTheNearestNodeInGraphOrder) {
  EXPECT_EQ(found_row(6, {{2, {7}}, {5, {9}}, {70, {1}}}), 9u);
  EXPECT_EQ(found_row(6, {}), std::nullopt);
  EXPECT_EQ(found_row(70, {{2, {7}}}), std::nullopt) << "no node has the handle 70";
}

PlannedTensor tensor(uint64_t offset, uint64_t bytes, int32_t first, int32_t last) {
  PlannedTensor tensor;
  tensor.buffer = 1;
  tensor.offset = offset;
  tensor.bytes = bytes;
  tensor.first = first;
  tensor.last = last;
  return tensor;
}

TEST(MemoryUse, AddsUpLiveTensors) {
  MemoryPlan plan{.buffers = {300}, .num_instructions = 4, .tensors = {}};
  plan.tensors = {tensor(0, 100, -1, 1), tensor(100, 50, 0, 2), tensor(150, 120, 1, 1),
                  tensor(0, 30, 2, 4)};
  const MemoryUse use = memory_over_time(plan);
  EXPECT_THAT(use.live_bytes, ElementsAre(150, 270, 80, 30));
  EXPECT_EQ(use.peak_instruction, 1);
  EXPECT_EQ(use.peak_bytes, 270u);
  EXPECT_THAT(use.peak_tensors, ElementsAre(2, 0, 1)) << "largest first";
}

TEST(MemoryUse, CountsSharedMemoryOnce) {
  MemoryPlan plan{.buffers = {100}, .num_instructions = 3, .tensors = {}};
  plan.tensors = {tensor(0, 100, 0, 1), tensor(0, 40, 1, 2)};
  EXPECT_THAT(memory_over_time(plan).live_bytes, ElementsAre(100, 100, 100));
  EXPECT_EQ(memory_over_time({}).peak_bytes, 0u);
  EXPECT_TRUE(memory_over_time({}).live_bytes.empty());
}

TEST(OpNames, ShortensNamesAndFindsOpsOfKernels) {
  EXPECT_EQ(short_name("aten.convolution.default"), "convolution");
  EXPECT_EQ(short_name("aten._native_batch_norm_legit_no_training.default"), "batch_norm");
  EXPECT_EQ(short_name("quantized_decomposed.quantize_per_tensor.default"), "quantize");
  EXPECT_EQ(short_name("aten.view_copy.default"), "view");
  EXPECT_EQ(short_name("aten._softmax.default"), "softmax");
  EXPECT_EQ(short_name("dim_order_ops._to_dim_order_copy.default"), "to_dim_order");
  EXPECT_EQ(short_name("_operator.mul"), "mul");
  EXPECT_EQ(short_name("Conv2d"), "Conv2d");
  EXPECT_EQ(short_name("_"), "_");
  EXPECT_EQ(base_name("aten::max.dim_max"), "max");
  EXPECT_EQ(base_name("max.dim_max"), "max");
  EXPECT_EQ(base_name("aten.max.dim"), "max");
  EXPECT_EQ(op_of_kernel("aten::add.out"), "aten.add.out");
  EXPECT_EQ(op_of_kernel("add.out"), "aten.add.out");
  EXPECT_EQ(op_of_kernel("copy_"), "aten.copy_.default");
}

// Each digit in an operator map of this backend is the debug handle of one operator.
class DigitsProfile final : public DelegateProfile {
 public:
  std::string_view backend_id() const override { return "Digits"; }
  OperatorMap parse_operator_map(std::string_view text) const override {
    OperatorMap map;
    map.num_operators = text.size();
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9') throw InspectorError("not a digit");
      map.nodes.push_back({.type = text,
                           .debug_handle = static_cast<uint32_t>(text[i] - '0'),
                           .role = OperatorMap::Role::kOperator,
                           .op = i,
                           .serves = {}});
    }
    return map;
  }
};

const DigitsProfile kDigits;

OperatorMapChoice chosen(const std::vector<std::string_view>& texts,
                         const std::vector<int32_t>& identifiers) {
  std::vector<OperatorMapText> maps;
  for (const std::string_view text : texts) maps.push_back({&kDigits, text});
  return choose_operator_map(maps, identifiers);
}

TEST(OperatorMapChoice, ChoosesTheNewestMapThatMatches) {
  const OperatorMapChoice choice = chosen({"2", "25", "26", "x"}, {2, 5});
  EXPECT_EQ(choice.why_none, "");
  EXPECT_EQ(choice.profile, &kDigits);
  ASSERT_FALSE(choice.operator_map.nodes.empty());
  EXPECT_EQ(choice.operator_map.nodes[0].type, "25") << "the older \"2\" matches too";
}

TEST(OperatorMapChoice, ReportsWhyNoMapMatches) {
  EXPECT_EQ(chosen({"x", "9"}, {2}).why_none, "not a digit")
      << "the reason is about the oldest map";
  EXPECT_THAT(chosen({"25"}, {2}).why_none, HasSubstr("lists 2 operators, but 1 ran"));
  EXPECT_THAT(chosen({"26"}, {2, 5}).why_none,
              HasSubstr("operator 1 has debug handle 6 in the map, but logged 5"));
}

std::string text(const std::vector<OrderMatch>& matches) {
  std::string text;
  for (const OrderMatch& match : matches) {
    text += match.op.has_value() ? std::to_string(*match.op) : match.is_layout_change ? "t" : "-";
    text += ' ';
  }
  return text;
}

std::vector<OrderMatch> match(const std::vector<std::string_view>& kernels,
                              const std::vector<std::string_view>& ops) {
  return match_in_order(kernels, ops, xnnpack_profile());
}

TEST(OrderMatch, PairsKernelsWithOpsInOrder) {
  EXPECT_EQ(text(match({"Transpose (ND, X32) #1", "Convolution (NHWC, F32) IGEMM #1",
                        "Fully Connected (NC, F32) GEMM #1", "Transpose (ND, X32) #2"},
                       {"convolution", "relu", "convolution", "relu"})),
            "t 0 2 t ");
}

TEST(OrderMatch, MaximizesTheNumberOfPairs) {
  // Clamp must match the second relu. If it matched the first one, which comes before the op
  // convolution, the earlier kernel Convolution would remain unmatched.
  EXPECT_EQ(text(match({"Convolution (NHWC, F32)", "Clamp (NC, F32)", "Sigmoid (NC, F32)"},
                       {"relu", "convolution", "relu", "sigmoid"})),
            "1 2 3 ");
}

TEST(OrderMatch, SeveralOperatorsCanMatchTheSameOp) {
  EXPECT_EQ(text(match({"Copy (NC, X32) #1", "Copy (NC, X32) #2"}, {"cat"})), "0 0 ");
  EXPECT_EQ(text(match({"Mean (ND) #1", "Mean (ND) Reduce2 #1"}, {"mean"})), "0 0 ");
}

TEST(OrderMatch, LeavesUnknownKernelsUnmatched) {
  EXPECT_EQ(text(match({"npu_blob_7", "Add (ND)"}, {"add", "mul"})), "- 0 ");
  EXPECT_EQ(text(match({"Add (ND)"}, {})), "- ");
  EXPECT_TRUE(match({}, {"add"}).empty());
}

TEST(OrderMatch, MatchesNothingIfThereAreTooManyOperators) {
  const std::vector<std::string_view> many(1 << 14, "Add (ND)"), ops(1 << 14, "add");
  for (const OrderMatch& match : match(many, ops)) EXPECT_FALSE(match.op.has_value());
}

void expect_statistics(const TimeStatistics& found, double min, double p50, double p90, double max,
                       double avg) {
  EXPECT_DOUBLE_EQ(found.min, min);
  EXPECT_DOUBLE_EQ(found.p50, p50);
  EXPECT_DOUBLE_EQ(found.p90, p90);
  EXPECT_DOUBLE_EQ(found.max, max);
  EXPECT_DOUBLE_EQ(found.avg, avg);
}

TEST(Statistics, AcceptZeroRunsOrOneRun) {
  EXPECT_EQ(statistics_of({}, 0).avg, 0);
  expect_statistics(statistics_of({7}, 1), 7, 7, 7, 7, 7);
}

TEST(Statistics, InterpolatesBetweenRanks) {
  expect_statistics(statistics_of({40, 10, 30, 20}, 4), 10, 25, 30 + 0.7 * 10, 40, 25);
}

TEST(Statistics, CountsRunsWithoutASampleAsZero) {
  expect_statistics(statistics_of({6, 3}, 5), 0, 0, 3 + 0.6 * 3, 6, 9.0 / 5);
}

RunSamples runs_of(const std::vector<double>& ns) {
  RunSamples samples;
  for (const double time : ns) samples.push_back({static_cast<uint32_t>(samples.size()), time});
  return samples;
}

TEST(Statistics, OutliersTakeMoreThanTwiceTheMedianTime) {
  // The median of the counted runs is 10. The first run is a warm-up.
  const RunSamples wall = runs_of({90, 10, 9, 21, 10, 8, 20, 400});
  const RunWindow window = {.cold = 1, .all = 8};
  EXPECT_EQ(outliers_of(wall, window), (std::vector<uint32_t>{3, 7}));
  EXPECT_TRUE(outliers_of(runs_of({10, 10, 10, 400}), {.cold = 0, .all = 4}).empty());
  EXPECT_TRUE(outliers_of(runs_of({10, 10, 10, 20, 10}), {.cold = 0, .all = 5}).empty());
}

TEST(Statistics, IncludesOutliersButNotWarmUps) {
  const RunSamples samples = runs_of({90, 10, 20, 400, 30, 40});
  const TimeStatistics s = statistics_of(samples, {.cold = 1, .all = 6});
  EXPECT_DOUBLE_EQ(s.avg, (10 + 20 + 400 + 30 + 40) / 5.0);
  EXPECT_DOUBLE_EQ(s.max, 400);
  EXPECT_DOUBLE_EQ(s.p50, 30);
  // A row counts as zero in runs that do not contain it.
  const RunSamples some = {{1, 12}, {3, 300}};
  EXPECT_DOUBLE_EQ(statistics_of(some, {.cold = 1, .all = 6}).avg, 312 / 5.0);
}

}  // namespace
}  // namespace vitrine::inspector
