#include "inspector/join/source_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspector/report/report_json.h"
#include "inspector/report/report_table.h"
#include "test/support/damaged_bytes.h"
#include "test/support/joined_profile.h"
#include "test/support/record_builder.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using etrecord::EtRecord;
using test::NodeText;
using test::TraceBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The graph is conv -> batch_norm -> relu -> add. The weight of conv is dequantized.
std::vector<NodeText> small_graph() {
  return {{"dq_w", "quantized_decomposed.dequantize_per_channel.default", 1, {"w"}, ""},
          {"conv", "aten.convolution.default", 2, {"x", "dq_w"}, "block.0"},
          {"bn", "aten._native_batch_norm_legit_no_training.default", 3, {"conv"}, "block.1"},
          {"relu", "aten.relu.default", 4, {"bn"}, "block.2"},
          {"add", "aten.add.Tensor", 5, {"relu", "x"}, ""}};
}
constexpr char kSmallMap[] = R"({"0": [1, 2, 3, 3, 4, 5]})";
constexpr char kXnnpack[] = R"({"0": {"name": "XnnpackBackend", "delegate_map": {}}})";

const EtRecord& small_record() {
  static const EtRecord record = test::record_of(small_graph(), kSmallMap, kXnnpack);
  return record;
}

// Returns the profile of a call of an XNNPACK delegate. `operator_map` has the lines of an operator
// map after its first line. If it is empty, the trace has no operator map.
Profile delegated(const std::vector<TraceBuilder::Operator>& operators, const EtRecord* record,
                  const std::string& operator_map = "", const std::string& head = "measured") {
  TraceBuilder trace;
  if (!operator_map.empty()) trace.operator_map(0, "xnnpack-plan 1 " + head + "\n" + operator_map);
  trace.delegate(0, "XnnpackBackend", operators);
  return test::joined_profile(trace.dump(), record);
}

TEST(Join, FoldsAnOpIntoItsProducerOrElseIntoItsUser) {
  const Profile profile =
      delegated({{.id = 65535, .metadata = "Transpose (ND, X32)", .ns = 1},
                 {.id = 2, .metadata = "Convolution (NHWC, F32) IGEMM", .ns = 2},
                 {.id = 65535, .metadata = "Transpose (ND, X32)", .ns = 3},
                 {.id = 5, .metadata = "Add (ND)", .ns = 4},
                 {.id = 65535, .metadata = "Transpose (ND, X32)", .ns = 5}},
                &small_record());
  ASSERT_EQ(profile.rows.size(), 5u);
  const ProfileRow& conv = profile.rows[1];
  EXPECT_EQ(conv.kernel, "Convolution (NHWC, F32) IGEMM");
  EXPECT_EQ(conv.join, Join::kExact);
  EXPECT_THAT(conv.source_ops, ElementsAre("aten.convolution.default"));
  EXPECT_THAT(conv.modules, ElementsAre("block.0"));
  EXPECT_THAT(conv.folded_ops, ElementsAre("quantized_decomposed.dequantize_per_channel.default",
                                           "aten._native_batch_norm_legit_no_training.default",
                                           "aten.relu.default"));
  EXPECT_THAT(conv.folded_modules, ElementsAre("", "block.1", "block.2"));
  EXPECT_THAT(conv.debug_handles, ElementsAre(2, 1, 3, 4));
  const ProfileRow& add = profile.rows[3];
  EXPECT_THAT(add.source_ops, ElementsAre("aten.add.Tensor"));
  EXPECT_THAT(add.folded_ops, IsEmpty());

  // If the operator map is missing, a layout change belongs to the next operator. If no operator
  // follows, the layout change belongs to the previous operator.
  for (const size_t i : {0u, 2u, 4u}) {
    EXPECT_TRUE(profile.rows[i].is_inserted);
    EXPECT_THAT(profile.rows[i].source_ops, IsEmpty());
    EXPECT_THAT(profile.rows[i].debug_handles, IsEmpty());
  }
  EXPECT_EQ(profile.rows[0].inserted_for_row, 2u);
  EXPECT_THAT(profile.rows[0].inserted_for, ElementsAre("aten.convolution.default"));
  EXPECT_EQ(profile.rows[2].inserted_for_row, 4u);
  EXPECT_EQ(profile.rows[4].inserted_for_row, 4u);
  EXPECT_THAT(profile.rows[4].inserted_for, ElementsAre("aten.add.Tensor"));
}

TEST(Join, UsesTheOperatorMapForFusedAndElidedNodesAndLayoutChanges) {
  const Profile profile = delegated(
      {{.id = 65535, .ns = 1}, {.id = 2, .ns = 2}, {.id = 5, .ns = 4}}, &small_record(),
      "0 StaticTranspose 65535 op=0 3\n"  // for the add, though the convolution comes next
      "1 Conv2d 2 op=1 -\n"
      "2 Clamp 4 in=2 -\n"  // into the add, though the convolution is nearer
      "3 Add 5 op=2 -\n");
  EXPECT_THAT(profile.notes, IsEmpty());
  EXPECT_EQ(profile.rows[0].inserted_for_row, 3u);
  EXPECT_THAT(profile.rows[1].folded_ops,
              ElementsAre("quantized_decomposed.dequantize_per_channel.default",
                          "aten._native_batch_norm_legit_no_training.default"));
  EXPECT_THAT(profile.rows[2].folded_ops, ElementsAre("aten.relu.default"));
  EXPECT_THAT(profile.rows[2].debug_handles, ElementsAre(5, 4));
  EXPECT_FALSE(profile.delegate_calls[0].derived_times);

  // The relu's node was elided ("none"), so the relu is folded into the convolution.
  const Profile other =
      delegated({{.id = 2, .ns = 2}, {.id = 5, .ns = 4}}, &small_record(),
                "0 Conv2d 2 op=0 -\n1 Clamp 4 none -\n2 Add 5 op=1 -\n", "derived");
  EXPECT_THAT(other.rows[0].folded_ops, Contains("aten.relu.default"));
  EXPECT_TRUE(other.delegate_calls[0].derived_times);
  EXPECT_THAT(other.notes, ElementsAre(HasSubstr("derived")));
}

TEST(Join, IgnoresAnOperatorMapThatDoesNotMatchTheTrace) {
  for (const char* map : {"", "nonsense", "xnnpack-plan 1 measured\n0 Conv2d 2 op=2 -\n",
                          "xnnpack-plan 1 measured\n0 Conv2d 9 op=0 -\n1 Add 5 op=1 -\n"}) {
    TraceBuilder trace;
    trace.operator_map(0, map);
    trace.delegate(0, "XnnpackBackend", {{.id = 2, .ns = 2}, {.id = 5, .ns = 4}});
    const Profile profile = test::joined_profile(trace.dump(), &small_record());
    EXPECT_THAT(profile.notes, ElementsAre(HasSubstr("operator map"))) << map;
    EXPECT_THAT(profile.rows[0].source_ops, ElementsAre("aten.convolution.default"));
    EXPECT_THAT(profile.rows[0].folded_ops, testing::SizeIs(3));
  }
}

// XNNPACK may run one node as two operators. In that case, the operator map does not have a node
// for the second operator.
TEST(Join, AcceptsAnOperatorMapThatLacksAnOperator) {
  const Profile profile = delegated({{.id = 2, .ns = 2}, {.id = 2, .ns = 1}, {.id = 5, .ns = 4}},
                                    &small_record(), "0 Conv2d 2 op=0 -\n1 Add 5 op=2 -\n");
  EXPECT_THAT(profile.notes, IsEmpty());
  for (const size_t i : {0u, 1u}) {
    EXPECT_THAT(profile.rows[i].source_ops, ElementsAre("aten.convolution.default"));
  }
}

TEST(Join, FindsTheMainOpAmongOpsThatShareAHandle) {
  const EtRecord record = test::record_of({{"v", "aten.view_copy.default", 7, {"x"}, ""},
                                           {"m", "aten.bmm.default", 7, {"v", "y"}, ""},
                                           {"w", "aten.view_copy.default", 7, {"m"}, ""}},
                                          R"({"0": [7, 7, 7]})", kXnnpack);
  const Profile profile = delegated(
      {{.id = 7, .ns = 2}, {.id = 7, .ns = 1}, {.id = 7, .ns = 4}, {.id = 7, .ns = 4}}, &record,
      "0 StaticReshape 7 op=0 -\n1 BatchMatrixMultiply 7 op=1 -\n"
      "2 StaticReshape 7 op=2 -\n3 Abs 7 op=3 -\n");
  EXPECT_EQ(profile.rows[0].main_op, 0u);
  EXPECT_EQ(profile.rows[1].main_op, 1u);
  EXPECT_EQ(profile.rows[2].main_op, 2u);
  EXPECT_EQ(profile.rows[3].main_op, 0u) << "the type is unknown, so the first op is chosen";
}

TEST(Join, RowsThatShareAHandleShareOpsButNotFoldedOps) {
  std::vector<NodeText> graph = small_graph();
  graph[3].debug_handle = 2;  // conv and relu share a handle
  const EtRecord record = test::record_of(graph, R"({"0": [1, 2, 3, 2, 5]})", kXnnpack);
  const Profile profile =
      delegated({{.id = 2, .ns = 1}, {.id = 2, .ns = 2}, {.id = 5, .ns = 3}}, &record);
  for (const size_t i : {0u, 1u}) {
    EXPECT_THAT(profile.rows[i].source_ops,
                ElementsAre("aten.convolution.default", "aten.relu.default"));
  }
  EXPECT_THAT(profile.rows[0].folded_ops,
              ElementsAre("quantized_decomposed.dequantize_per_channel.default"))
      << "toward users: the first row of the handle";
  EXPECT_THAT(profile.rows[1].folded_ops,
              ElementsAre("aten._native_batch_norm_legit_no_training.default"))
      << "toward inputs: the last row of the handle";
}

// A damaged file that is still a valid ETDump must result in a profile or an error, with and
// without a record.
TEST(Join, SurvivesDamagedTraces) {
  TraceBuilder trace;
  trace.operator_map(
      0, "xnnpack-plan 1 measured\n0 StaticTranspose 65535 op=0 1\n1 Conv2d 2 op=1 -\n");
  for (int run = 0; run < 2; ++run) {
    trace.delegate(0, "XnnpackBackend", {{.id = 65535, .ns = 1}, {.id = 2, .ns = 2}});
    trace.kernel(1, "aten::add.out", 5, "portable");
    trace.end_run();
  }
  const EtRecord record =
      test::record_of(small_graph(), R"({"0": [1, 2, 3, 4], "1": 5})", kXnnpack);
  const std::vector<std::byte> sound = trace.bytes();
  size_t profiles = 0;
  test::for_each_changed_byte(sound, [&](const auto& bytes, const auto&) {
    try {
      const etdump::EtDump dump = etdump::parse_etdump(bytes);
      report_table(test::joined_profile(dump, nullptr));
      report_json(test::joined_profile(dump, &record));
      ++profiles;
    } catch (const etdump::EtDumpError&) {
    } catch (const InspectorError&) {
    }
  });
  EXPECT_GT(profiles, sound.size() / 4) << "times, ids and texts are a large part of the file";
}

TEST(Join, UsesTheDelegateMap) {
  TraceBuilder trace;
  trace.delegate(
      0, "Demo",
      {{.id = 0, .ns = 1}, {.name = "relu [vector]", .ns = 2}, {.name = "odd", .ns = 3}});
  const EtRecord record = test::record_of(
      small_graph(), kSmallMap,
      R"({"0": {"name": "Demo", "delegate_map": {"0": [2, 3], "relu": [4], "r": [1]}}})");
  const Profile profile = test::joined_profile(trace.dump(), &record);
  EXPECT_THAT(
      profile.rows[0].source_ops,
      ElementsAre("aten.convolution.default", "aten._native_batch_norm_legit_no_training.default"));
  EXPECT_THAT(profile.rows[0].debug_handles, ElementsAre(2, 3, 1));
  EXPECT_THAT(profile.rows[1].source_ops, ElementsAre("aten.relu.default"));
  EXPECT_THAT(profile.rows[1].folded_ops, ElementsAre("aten.add.Tensor"));
  EXPECT_EQ(profile.rows[2].join, Join::kNone);
  EXPECT_THAT(profile.rows[2].source_ops, IsEmpty());
  EXPECT_THAT(profile.notes, ElementsAre(HasSubstr("1 operators of Demo")));
}

TEST(Join, AssignsAllOpsToTheRowOfADelegateWithoutOperators) {
  TraceBuilder trace;
  trace.delegate(0, "Silent", {});
  const EtRecord record = test::record_of(small_graph(), kSmallMap);
  const Profile profile = test::joined_profile(trace.dump(), &record);
  ASSERT_EQ(profile.rows.size(), 1u);
  EXPECT_EQ(profile.rows[0].delegate, "Silent");
  EXPECT_THAT(profile.rows[0].source_ops, testing::SizeIs(5));
  EXPECT_THAT(profile.rows[0].debug_handles, ElementsAre(1, 2, 3, 4, 5));
}

TEST(Join, InfersOperatorsByKernelNameOrElseAssignsAllOpsOfTheCall) {
  const Profile profile = delegated(
      {{.name = "Convolution (NHWC, F32) IGEMM #1", .ns = 1}, {.name = "odd kernel", .ns = 1}},
      &small_record());
  EXPECT_EQ(profile.rows[0].join, Join::kInferred);
  EXPECT_EQ(profile.rows[0].kernel, "Convolution (NHWC, F32) IGEMM #1");
  EXPECT_THAT(profile.rows[0].source_ops, ElementsAre("aten.convolution.default"));
  EXPECT_EQ(profile.rows[1].join, Join::kInferred);
  EXPECT_TRUE(profile.rows[1].has_all_ops_of_call);
  EXPECT_THAT(profile.rows[1].source_ops, testing::SizeIs(5));
  EXPECT_THAT(profile.notes, Contains(HasSubstr("inferred")));
  EXPECT_THAT(profile.delegate_calls[0].source_ops, testing::SizeIs(5));
}

TEST(Join, TakesOpsFromTheRecordOrElseFromTheKernelName) {
  TraceBuilder trace;
  trace.kernel(0, "aten::add.out", 1);
  trace.kernel(9, "quantized_decomposed::add.out", 2);
  trace.kernel(10, "aten::copy_", 2);
  trace.kernel(11, "executorch_prim::et_view.default", 2);
  const EtRecord record = test::record_of(small_graph(), R"({"0": 5})");
  const Profile profile = test::joined_profile(trace.dump(), &record);
  EXPECT_EQ(profile.rows[0].join, Join::kExact);
  EXPECT_THAT(profile.rows[0].source_ops, ElementsAre("aten.add.Tensor"));
  EXPECT_THAT(profile.rows[0].debug_handles, ElementsAre(5));
  EXPECT_EQ(profile.rows[1].join, Join::kInferred);
  EXPECT_THAT(profile.rows[1].source_ops, ElementsAre("quantized_decomposed.add.out"));
  EXPECT_THAT(profile.rows[2].source_ops, ElementsAre("aten.copy_.default"));
  EXPECT_EQ(profile.rows[3].kernel, "executorch_prim::et_view.default");
}

TEST(Join, KernelsThatShareAHandleAreMatchedToNodesByNameAndOrder) {
  TraceBuilder trace;
  trace.kernel(0, "aten::permute_copy.out", 1);
  trace.kernel(1, "aten::addmm.out", 2);
  trace.kernel(2, "aten::permute_copy.out", 1);
  const EtRecord record =
      test::record_of({{"p", "aten.permute_copy.default", 1, {"w"}, "first"},
                       {"m", "aten.addmm.default", 1, {"b", "x", "p"}, "middle"},
                       {"q", "aten.permute_copy.default", 1, {"m"}, "last"}},
                      R"({"0": 1, "1": 1, "2": 1})");
  const Profile profile = test::joined_profile(trace.dump(), &record);
  EXPECT_THAT(profile.rows[0].modules, ElementsAre("first"));
  EXPECT_THAT(profile.rows[1].source_ops, ElementsAre("aten.addmm.default"));
  EXPECT_THAT(profile.rows[2].modules, ElementsAre("last"));
}

TEST(Join, WarnsIfTheRecordBelongsToAnotherProgram) {
  TraceBuilder trace;
  trace.kernel(0, "aten::tanh.out", 1);
  trace.kernel(1, "aten::exp.out", 2);
  const EtRecord record = test::record_of(small_graph(), R"({"0": 2, "1": 5})");
  EXPECT_THAT(test::joined_profile(trace.dump(), &record).run.warnings,
              ElementsAre(HasSubstr("record of this program?")));
  EXPECT_THAT(test::joined_profile(trace.dump(), &record, {.method = "decode"}).notes,
              ElementsAre(HasSubstr("has no method \"decode\" (it has forward)")));
}

TEST(Join, InfersOpsFromTheOperatorMapIfThereIsNoRecord) {
  const Profile profile = delegated({{.id = 2, .metadata = "Convolution", .ns = 2}}, nullptr,
                                    "0 Conv2d 2 op=0 -\n1 Clamp 4 in=0 -\n");
  EXPECT_EQ(profile.rows[0].join, Join::kInferred);
  EXPECT_THAT(profile.rows[0].source_ops, ElementsAre("Conv2d"));
  EXPECT_THAT(profile.rows[0].folded_ops, ElementsAre("Clamp"));
  EXPECT_THAT(profile.rows[0].debug_handles, ElementsAre(2));
}

// Instruction 0 of each chain calls a delegate whose operator has identifier 2.
TEST(Join, AppliesTheRecordToTheFirstChainOnly) {
  etdump::EtDump dump;
  dump.blocks.push_back({.name = "Execute"});
  std::vector<etdump::ProfileEvent>& events = dump.blocks[0].profile_events;
  for (const int32_t chain : {0, 1}) {
    events.push_back({.chain_index = chain, .delegate_debug_id = 2, .start = 0, .end = 1});
    events.push_back({.name = "DELEGATE_CALL", .chain_index = chain, .start = 0, .end = 2});
  }
  events.push_back({.name = "Method::execute", .start = 0, .end = 10});
  const EtRecord record =
      test::record_of(small_graph(), R"({"0": [2]})", R"({"0": {"name": "XnnpackBackend"}})");
  const Profile profile = test::joined_profile(dump, &record);
  ASSERT_THAT(profile.rows, testing::SizeIs(2));
  EXPECT_EQ(profile.rows[0].join, Join::kExact);
  EXPECT_EQ(profile.rows[1].join, Join::kNone);
  EXPECT_THAT(profile.rows[1].source_ops, testing::IsEmpty());
  ASSERT_THAT(profile.delegate_calls, testing::SizeIs(2));
  EXPECT_EQ(profile.delegate_calls[0].partition, 0);
  EXPECT_EQ(profile.delegate_calls[1].partition, 1);
}

TEST(Join, PartitionNumbersCountDelegatesThatDidNotRun) {
  TraceBuilder trace;
  trace.delegate(3, "XnnpackBackend", {{.id = 2, .ns = 1}});
  const EtRecord record =
      test::record_of(small_graph(), R"({"0": [1], "3": [2]})",
                      R"({"0": {"name": "XnnpackBackend"}, "3": {"name": "XnnpackBackend"}})");
  EXPECT_EQ(test::joined_profile(trace.dump(), &record).rows[0].partition, 1)
      << "instruction 0 was not run";
}

}  // namespace
}  // namespace vitrine::inspector
