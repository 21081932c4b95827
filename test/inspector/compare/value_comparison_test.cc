// Which recorded tensors are set against each other, on traces made to measure.
#include "inspector/compare/value_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>

#include "inspector/report/report_values.h"
#include "test/support/joined_profile.h"
#include "test/support/record_builder.h"
#include "test/support/trace_builder.h"

namespace vitrine::test {
namespace {

using inspector::Alignment;
using inspector::ValueComparison;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<NodeText> kRecordedNet = {
    {"conv", "aten.convolution.default", 1, {}, "c", {2}},
    {"relu", "aten.relu.default", 2, {"conv"}, "r", {2}},
    {"add", "aten.add.Tensor", 3, {"relu"}, "a", {2}},
    {"mul", "aten.mul.Tensor", 4, {"add", "relu"}, "m", {2}}};

// A run that records values, and its profile.
class RecordedSide {
 public:
  void kernel(int32_t instruction, const std::string& name) {
    trace_.kernel(instruction, name, 10);
  }
  void delegate(int32_t instruction, const std::vector<TraceBuilder::Operator>& operators) {
    trace_.delegate(instruction, "XnnpackBackend", operators);
  }
  // In the order of the run; floats of shape [n].
  void value(int32_t instruction, const std::vector<float>& elements, bool is_output = false) {
    const auto& kept = data_.emplace_back(elements);
    etdump::DebugTensor tensor{.dtype = ScalarType::kFloat,
                               .sizes = {static_cast<int64_t>(kept.size())},
                               .strides = {1},
                               .offset = 0,
                               .data = std::as_bytes(std::span(kept))};
    events_.push_back({.chain_index = is_output ? etdump::kUnset : 0,
                       .instruction_id = instruction,
                       .is_output = is_output,
                       .value = tensor,
                       .position = events_.size()});
  }
  void begin() { trace_.begin_run(); }
  void end(const std::vector<NodeText>& nodes, const std::string& handles,
           const std::string& delegates = "{}") {
    trace_.end_run();
    if (!nodes.empty()) {
      record_ = etrecord::parse_etrecord(
          make_archive({{"ETRECORD_V0", ""},
                        {"edge_dialect_exported_program/forward", edge_program_json(nodes)},
                        {"debug_handle_map", "{\"forward\": " + handles + "}"},
                        {"delegate_map", "{\"forward\": " + delegates + "}"}}));
    }
    dump_ = trace_.dump();
    dump_.blocks.back().debug_events = events_;
    profile_ = test::joined_profile(dump_, nodes.empty() ? nullptr : &record_);
  }
  inspector::ValueRun run() const {
    const auto method = record_.methods.find("forward");
    return {profile_, dump_, method == record_.methods.end() ? nullptr : &method->second};
  }
  const inspector::Profile& profile() const { return profile_; }

 private:
  TraceBuilder trace_;
  std::deque<std::vector<float>> data_;
  std::vector<etdump::DebugEvent> events_;
  etrecord::EtRecord record_;
  etdump::EtDump dump_;
  inspector::Profile profile_;
};

// All four ops run as kernels; `wrong` is added to the results from the relu on.
void run_portable(RecordedSide& side, float wrong = 0,
                  const std::vector<NodeText>& nodes = kRecordedNet,
                  const std::string& handles = R"({"0": 1, "1": 2, "2": 3, "3": 4})") {
  side.begin();
  side.kernel(0, "aten::convolution.out");
  side.value(0, {-1, 2});
  side.kernel(1, "aten::relu.out");
  side.value(1, {0, 2 + wrong});
  side.kernel(2, "aten::add.out");
  side.value(2, {1, 3 + wrong});
  side.kernel(3, "aten::mul.out");
  side.value(3, {0, 6 + wrong});
  side.value(0, {0, 6 + wrong}, true);
  side.end(nodes, handles);
}

// The first three in a delegate, of which relu (which mul uses) and add come out.
void run_delegated(RecordedSide& side, float wrong = 0) {
  side.begin();
  side.delegate(
      0, {{.id = 1, .metadata = "Convolution", .ns = 10}, {.id = 3, .metadata = "Add", .ns = 5}});
  side.value(0, {0, 2});
  side.value(0, {1, 3 + wrong});
  side.kernel(1, "aten::mul.out");
  side.value(1, {0, 6 + wrong});
  side.value(0, {0, 6 + wrong}, true);
  side.end(kRecordedNet, R"({"0": [1, 2, 3], "1": 4})",
           R"({"0": {"name": "XnnpackBackend", "delegate_map": {}}})");
}

std::vector<std::string> ops_of(const ValueComparison& comparison) {
  std::vector<std::string> ops;
  for (const auto& value : comparison.values) ops.push_back(value.node_op);
  return ops;
}

TEST(ValueComparisonTest, NamesTheFirstOpThatDiffers) {
  RecordedSide a, b;
  run_portable(a);
  run_portable(b, 0.5f);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  EXPECT_EQ(result.alignment, Alignment::kHandles);
  ASSERT_THAT(ops_of(result), ElementsAre("convolution", "relu", "add", "mul"));
  ASSERT_EQ(result.first_below, std::optional<size_t>(1));
  EXPECT_TRUE(result.is_below());
  EXPECT_EQ(result.values[0].difference.figures.mismatches, 0u);
  const auto& relu = result.values[1];
  EXPECT_THAT(relu.op.rows_a, ElementsAre(1));
  EXPECT_EQ(relu.difference.figures.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(relu.difference.figures.sqnr_db, 10 * std::log10(4 / 0.25));
  ASSERT_EQ(result.outputs.size(), 1u);
  EXPECT_DOUBLE_EQ(result.outputs[0].figures.sqnr_db, 10 * std::log10(36 / 0.25));
  const std::string table = inspector::report_values(result, a.profile(), b.profile(), {120});
  EXPECT_THAT(table, HasSubstr("first below 40 dB  #2 relu r"));
  const auto json =
      nlohmann::json::parse(inspector::report_values_json(result, a.profile(), b.profile()));
  EXPECT_EQ(json.at("first_below"), 1);
  EXPECT_EQ(json.at("values").at(0).at("sqnr_db"), nullptr);
}

// SQNRs of 12.0 (relu), 16.0 (add) and 21.6 dB (mul); the convolution is the same.
TEST(ValueComparisonTest, TheTableOfTheTopHasTheLowestSqnrs) {
  RecordedSide a, b;
  run_portable(a);
  run_portable(b, 0.5f);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  inspector::TableOptions options = {120};
  options.view.top = 2;
  const std::string table = inspector::report_values(result, a.profile(), b.profile(), options);
  EXPECT_THAT(table, HasSubstr("12.0"));
  EXPECT_THAT(table, HasSubstr("16.0"));
  EXPECT_THAT(table, testing::Not(HasSubstr("convolution")));
  EXPECT_THAT(table, HasSubstr("2 outputs beyond the top"));
}

TEST(ValueComparisonTest, ADelegateIsComparedAtItsBoundary) {
  RecordedSide a, b;
  run_portable(a);
  run_delegated(b, 0.25f);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  ASSERT_THAT(ops_of(result), ElementsAre("relu", "add", "mul"));
  EXPECT_EQ(result.values[0].difference.figures.mismatches, 0u);
  EXPECT_EQ(result.first_below, std::optional<size_t>(1));
  EXPECT_EQ(result.values[1].difference.figures.max_abs, 0.25);
  EXPECT_THAT(result.notes, IsEmpty());
}

// One exported op became five nodes of one handle; a delegate took the two muls.
TEST(ValueComparisonTest, NodesOfOneHandleAreToldApartWhereTheyCanBe) {
  const std::vector<NodeText> nodes = {{"mul", "aten.mul.Tensor", 1, {}, "m", {2}},
                                       {"eq", "aten.eq.Scalar", 1, {"mul"}, "m", {2}},
                                       {"mul_1", "aten.mul.Tensor", 1, {"eq"}, "m", {2}},
                                       {"abs", "aten.abs.default", 1, {"mul_1"}, "m", {2}},
                                       {"eq_1", "aten.eq.Scalar", 1, {"abs"}, "m", {2}}};
  const auto run = [&](RecordedSide& side, bool first_delegated) {
    side.begin();
    if (first_delegated) {
      side.delegate(0, {{.id = 1, .metadata = "Multiply", .ns = 10}});
    } else {
      side.kernel(0, "aten::mul.out");
    }
    side.value(0, {1, 2});
    side.kernel(1, "aten::eq.Scalar_out");
    side.value(1, {0, 1});
    if (first_delegated) {
      side.delegate(2, {{.id = 1, .metadata = "Multiply", .ns = 10}});
    } else {
      side.kernel(2, "aten::mul.out");
    }
    side.value(2, {3, 4});
    side.kernel(3, "aten::abs.out");
    side.value(3, {5, 6});
    side.kernel(4, "aten::eq.Scalar_out");
    side.value(4, {1, 1});
    side.end(nodes, R"({"0": [1], "1": 1, "2": [1], "3": 1, "4": 1})");
  };
  RecordedSide a, b;
  run(a, false);
  run(b, true);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  EXPECT_THAT(ops_of(result), ElementsAre("eq", "abs", "eq"));
  for (const auto& value : result.values) EXPECT_EQ(value.difference.figures.mismatches, 0u);
  EXPECT_EQ(result.notes.size(), 2u);
}

TEST(ValueComparisonTest, OutputsThatTheRecordDoesNotTellAreLeftOut) {
  RecordedSide a, b;
  run_portable(a);
  b.begin();
  b.delegate(0, {{.id = 1, .metadata = "Convolution", .ns = 10}});
  b.value(0, {0, 2, 5});  // no result of the nodes has three elements
  b.value(0, {1, 3});
  b.kernel(1, "aten::mul.out");
  b.value(1, {0, 6});
  b.end(kRecordedNet, R"({"0": [1, 2, 3], "1": 4})",
        R"({"0": {"name": "XnnpackBackend", "delegate_map": {}}})");
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  EXPECT_THAT(ops_of(result), ElementsAre("mul"));
  EXPECT_THAT(result.notes,
              ElementsAre(HasSubstr("B: instruction 0: the order of the delegate's outputs")));
  EXPECT_FALSE(result.is_below());
}

TEST(ValueComparisonTest, WithoutRecordsNamesGoInOrder) {
  RecordedSide a, b;
  run_portable(a, 0, {});
  run_portable(b, 1, {});
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  EXPECT_EQ(result.alignment, Alignment::kOrder);
  EXPECT_EQ(result.values.size(), 4u);
  EXPECT_EQ(result.first_below, std::optional<size_t>(1));
}

TEST(ValueComparisonTest, OtherHandlesOfTheSameModelGoByOpAndModule) {
  std::vector<NodeText> renumbered = kRecordedNet;
  for (NodeText& node : renumbered) node.debug_handle = 5 - node.debug_handle;
  RecordedSide a, b;
  run_portable(a);
  run_portable(b, 0.5f, renumbered, R"({"0": 4, "1": 3, "2": 2, "3": 1})");
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  EXPECT_EQ(result.alignment, Alignment::kOps);
  ASSERT_EQ(result.values.size(), 4u);
  EXPECT_EQ(result.first_below, std::optional<size_t>(1));
}

TEST(ValueComparisonTest, OfALoopTheLastTimeCounts) {
  const auto run = [](RecordedSide& side, float first) {
    side.begin();
    for (const float x : {first, 5.0f}) {
      side.kernel(0, "aten::convolution.out");
      side.value(0, {x, x});
    }
    side.end(kRecordedNet, R"({"0": 1})");
  };
  RecordedSide a, b;
  run(a, 1);
  run(b, 2);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  ASSERT_EQ(result.values.size(), 1u);
  EXPECT_EQ(result.values[0].difference.figures.mismatches, 0u);
}

TEST(ValueComparisonTest, OtherShapesAreNotCompared) {
  const auto run = [](RecordedSide& side, const std::vector<float>& elements) {
    side.begin();
    side.kernel(0, "aten::convolution.out");
    side.value(0, elements);
    side.end({}, "");
  };
  RecordedSide a, b;
  run(a, {1, 2});
  run(b, {1, 2, 3});
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  ASSERT_EQ(result.values.size(), 1u);
  EXPECT_EQ(result.values[0].difference.why_not, "the shapes differ");
  EXPECT_FALSE(result.is_below());
}

TEST(ValueComparisonTest, ATraceWithoutValuesIsRefused) {
  RecordedSide a, b;
  run_portable(a);
  b.begin();
  b.kernel(0, "aten::convolution.out");
  b.end(kRecordedNet, R"({"0": 1})");
  EXPECT_THROW(inspector::compare_values(a.run(), b.run(), 40), inspector::InspectorError);
}

}  // namespace
}  // namespace vitrine::test
