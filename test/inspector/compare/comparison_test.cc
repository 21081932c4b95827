// Alignment of rows, and the arithmetic of comparisons, on traces made to measure.
#include "inspector/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "inspector/report/report_comparison.h"
#include "test/support/joined_profile.h"
#include "test/support/record_builder.h"
#include "test/support/trace_builder.h"

namespace vitrine::test {
namespace {

using inspector::Alignment;
using inspector::ComparedOp;
using inspector::Comparison;
using inspector::Profile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Side {
  etdump::EtDump trace;
  Profile profile;
};

etrecord::EtRecord record_of(const std::vector<NodeText>& nodes, const std::string& handles,
                             const std::string& delegates = "{}") {
  return etrecord::parse_etrecord(
      make_archive({{"ETRECORD_V0", ""},
                    {"edge_dialect_exported_program/forward", edge_program_json(nodes)},
                    {"debug_handle_map", "{\"forward\": " + handles + "}"},
                    {"delegate_map", "{\"forward\": " + delegates + "}"}}));
}

Side side_of(const TraceBuilder& trace, const etrecord::EtRecord* record = nullptr) {
  Side side{trace.dump(), {}};
  side.profile = test::joined_profile(side.trace, record);
  return side;
}

Comparison compare(const Side& a, const Side& b, bool is_paired = false) {
  return inspector::compare_profiles(a.profile, b.profile, is_paired);
}

// One run of kernels with these names and times, at instructions 0, 1, ...
using Kernels = std::vector<std::pair<std::string, uint64_t>>;
void run_kernels(TraceBuilder& trace, const Kernels& kernels) {
  trace.begin_run();
  int32_t instruction = 0;
  for (const auto& [name, ns] : kernels) trace.kernel(instruction++, name, ns);
  trace.end_run();
}

void expect_sums(const Comparison& comparison) {
  double a = comparison.unattributed.a.avg, b = comparison.unattributed.b.avg;
  for (const ComparedOp& op : comparison.ops) {
    a += op.a.avg;
    b += op.b.avg;
  }
  EXPECT_DOUBLE_EQ(a, comparison.wall.a.avg);
  EXPECT_DOUBLE_EQ(b, comparison.wall.b.avg);
}

const std::vector<NodeText> kNet = {{"conv", "aten.convolution.default", 1, {}, "c"},
                                    {"norm", "aten.batch_norm.default", 2, {"conv"}, "n"},
                                    {"relu", "aten.relu.default", 3, {"norm"}, "r"},
                                    {"add", "aten.add.Tensor", 4, {"relu"}, "a"}};

Side portable_net(const std::vector<NodeText>& nodes = kNet,
                  const std::string& handles = R"({"0": 1, "1": 2, "2": 3, "3": 4})") {
  TraceBuilder trace;
  for (int i = 0; i < 2; ++i) {
    run_kernels(trace, {{"aten::convolution.out", 400},
                        {"aten::batch_norm.out", 200},
                        {"aten::relu.out", 100},
                        {"aten::add.out", 50}});
  }
  const etrecord::EtRecord record = record_of(nodes, handles);
  return side_of(trace, &record);
}

// Norm and relu are folded into the convolution; a layout change comes before it.
Side delegated_net() {
  TraceBuilder trace;
  for (int i = 0; i < 2; ++i) {
    trace.begin_run();
    trace.delegate(0, "XnnpackBackend",
                   {{.id = 65535, .metadata = "Transpose", .ns = 30},
                    {.id = 1, .metadata = "Convolution (NHWC, F32) IGEMM", .ns = 140},
                    {.id = 4, .metadata = "Binary Elementwise (ND)", .ns = 25}});
    trace.end_run();
  }
  const etrecord::EtRecord record = record_of(
      kNet, R"({"0": [1, 2, 3, 4]})", R"({"0": {"name": "XnnpackBackend", "delegate_map": {}}})");
  return side_of(trace, &record);
}

TEST(ComparisonTest, FoldedOpsStandAgainstTheirKernels) {
  const Comparison result = compare(delegated_net(), portable_net());
  EXPECT_EQ(result.alignment, Alignment::kHandles);
  ASSERT_EQ(result.ops.size(), 3u);
  EXPECT_THAT(result.ops[0].rows_a, ElementsAre(0));  // the layout change
  EXPECT_THAT(result.ops[0].rows_b, IsEmpty());
  EXPECT_FALSE(result.ops[0].ratio.has_value());
  EXPECT_THAT(result.ops[1].rows_a, ElementsAre(1));
  EXPECT_THAT(result.ops[1].rows_b, ElementsAre(0, 1, 2));
  EXPECT_DOUBLE_EQ(result.ops[1].a.avg, 140);
  EXPECT_DOUBLE_EQ(result.ops[1].b.avg, 700);
  EXPECT_DOUBLE_EQ(result.ops[1].ratio.value().p50, 5);
  EXPECT_DOUBLE_EQ(result.ops[1].change, 560);
  EXPECT_THAT(result.ops[2].rows_a, ElementsAre(2));
  EXPECT_THAT(result.ops[2].rows_b, ElementsAre(3));
  expect_sums(result);
}

TEST(ComparisonTest, OtherNumbersOfTheSameModelGoByOpAndModule) {
  std::vector<NodeText> renumbered = kNet;
  for (NodeText& node : renumbered) node.debug_handle = 5 - node.debug_handle;
  const Comparison result =
      compare(portable_net(), portable_net(renumbered, R"({"0": 4, "1": 3, "2": 2, "3": 1})"));
  EXPECT_EQ(result.alignment, Alignment::kOps);
  ASSERT_EQ(result.ops.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(result.ops[i].rows_a, ElementsAre(i));
    EXPECT_THAT(result.ops[i].rows_b, ElementsAre(i));
  }
}

TEST(ComparisonTest, WithoutRecordsNamesGoInOrder) {
  TraceBuilder a, b;
  run_kernels(a, {{"aten::mm.out", 10}, {"aten::add.out", 20}, {"aten::relu.out", 30}});
  run_kernels(b, {{"aten::mm.out", 10}, {"aten::mul.out", 5}, {"aten::relu.out", 60}});
  const Comparison result = compare(side_of(a), side_of(b));
  EXPECT_EQ(result.alignment, Alignment::kOrder);
  ASSERT_EQ(result.ops.size(), 4u);
  EXPECT_TRUE(result.ops[0].is_aligned());
  EXPECT_THAT(result.ops[1].rows_a, IsEmpty());
  EXPECT_THAT(result.ops[1].rows_b, ElementsAre(1));
  EXPECT_THAT(result.ops[2].rows_a, ElementsAre(1));
  EXPECT_THAT(result.ops[2].rows_b, IsEmpty());
  EXPECT_DOUBLE_EQ(result.ops[3].ratio.value().p50, 2);
  EXPECT_THAT(result.notes, testing::Contains(HasSubstr("run order")));
  expect_sums(result);
}

TEST(ComparisonTest, PairedRatiosAreThoseOfNeighbours) {
  TraceBuilder a, b;
  // The machine gets slower from run to run, the ratio stays.
  for (uint64_t slow = 1; slow <= 4; ++slow) {
    run_kernels(a, {{"aten::mm.out", 100 * slow}});
    run_kernels(b, {{"aten::mm.out", 150 * slow}});
  }
  const Side side_a = side_of(a), side_b = side_of(b);
  const auto paired = compare(side_a, side_b, true).ops[0].ratio.value();
  EXPECT_DOUBLE_EQ(paired.low, 1.5);
  EXPECT_DOUBLE_EQ(paired.p50, 1.5);
  EXPECT_DOUBLE_EQ(paired.high, 1.5);
  EXPECT_TRUE(paired.excludes_one());
  const auto unpaired = compare(side_a, side_b, false).ops[0].ratio.value();
  EXPECT_LT(unpaired.low, 1);
  EXPECT_GT(unpaired.high, 2);
  EXPECT_FALSE(unpaired.excludes_one());
}

TEST(ComparisonTest, TheSlowestTenthIsLeftOut) {
  TraceBuilder a, b;
  for (int i = 0; i < 10; ++i) {
    run_kernels(a, {{"aten::mm.out", i == 3 ? 900'000 : 100}});
    run_kernels(b, {{"aten::mm.out", i == 7 ? 900'000 : 100}});
  }
  const Comparison result = compare(side_of(a), side_of(b), true);
  EXPECT_EQ(result.runs_a, 8u);
  EXPECT_EQ(result.runs_b, 8u);
  EXPECT_DOUBLE_EQ(result.ops[0].a.avg, 100);
  EXPECT_DOUBLE_EQ(result.ops[0].b.avg, 100);
  expect_sums(result);
}

TEST(ComparisonTest, WarmUpsDoNotCount) {
  TraceBuilder a, b;
  run_kernels(a, {{"aten::mm.out", 10}});
  run_kernels(b, {{"aten::mm.out", 20}});
  Side side = side_of(a);
  side.profile.cold_runs = 1;
  for (inspector::RunSamples* samples :
       {&side.profile.rows[0].samples, &side.profile.wall_samples}) {
    samples->back().run = 1;
    samples->insert(samples->begin(), {0, 5000});
  }
  EXPECT_DOUBLE_EQ(compare(side, side_of(b)).ops[0].ratio.value().p50, 2);
}

TEST(ComparisonReportTest, NamesSidesOpsAndOutputs) {
  const Side a = delegated_net(), b = portable_net();
  Comparison comparison = compare(a, b);
  inspector::OutputDifference output;
  output.a = output.b = "f32[4]";
  output.figures.elements = 4;
  output.figures.mismatches = 1;
  output.figures.max_abs = 0.5;
  output.figures.sqnr_db = 42;
  comparison.outputs = {output};
  const std::string table = inspector::report_comparison(comparison, a.profile, b.profile, {140});
  EXPECT_THAT(table, HasSubstr("convolution + batch_norm + relu"));
  EXPECT_THAT(table, HasSubstr("layout change for convolution"));
  EXPECT_THAT(table, HasSubstr("SQNR 42.0 dB"));
  EXPECT_THAT(table, HasSubstr("only in A"));
  const auto json =
      nlohmann::json::parse(inspector::report_comparison_json(comparison, a.profile, b.profile));
  EXPECT_EQ(json.at("ops").at(1).at("rows_b"), nlohmann::json({0, 1, 2}));
  EXPECT_EQ(json.at("outputs").at(0).at("sqnr_db"), 42);
  EXPECT_EQ(json.at("aligned_by"), "debug handles");
}

// Changes of +50, -200 and +10 ns.
TEST(CompareProfiles, TheTableOfTheTopHasWhatChangedMost) {
  TraceBuilder a, b;
  run_kernels(a, {{"aten::mul.out", 1000}, {"aten::exp.out", 700}, {"aten::sin.out", 300}});
  run_kernels(b, {{"aten::mul.out", 1050}, {"aten::exp.out", 500}, {"aten::sin.out", 310}});
  const Side side_a = side_of(a), side_b = side_of(b);
  inspector::TableOptions options = {140};
  options.view.top = 1;
  const std::string table = inspector::report_comparison(compare(side_a, side_b), side_a.profile,
                                                         side_b.profile, options);
  const std::string rows = table.substr(0, table.find("largest changes"));
  EXPECT_THAT(rows, HasSubstr("-0.20"));
  EXPECT_THAT(rows, testing::Not(HasSubstr("mul")));
  EXPECT_THAT(rows, testing::ContainsRegex("2 rows beyond the top +1.30 +1.36 +\\+0.06"));
}

}  // namespace
}  // namespace vitrine::test
