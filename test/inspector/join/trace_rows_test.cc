#include "inspector/join/trace_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "test/support/joined_profile.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using test::TraceBuilder;
using testing::ElementsAre;
using testing::SizeIs;

TEST(RunTimes, AddsUpTheCallsOfARun) {
  RunTimes times;
  times.add(0, 5);
  times.add(0, 7);
  times.add(2, 11);
  ASSERT_THAT(times.samples(), SizeIs(2));
  EXPECT_EQ(times.samples()[0].ns, 5 + 7);
  EXPECT_EQ(times.samples()[1].run, 2u);
  EXPECT_EQ(times.calls_from(0), 3u);
  EXPECT_EQ(times.calls_from(1), 1u);
  std::vector<double> rest = {20, 20, 20};
  times.subtract_from(rest);
  EXPECT_THAT(rest, ElementsAre(20 - 12, 20, 20 - 11));
}

TEST(MergeRuns, RepeatedInstructionsShareARow) {
  TraceBuilder trace;
  for (int run = 0; run < 2; ++run) {
    for (uint64_t i = 1; i <= 3; ++i) {
      trace.kernel(0, "aten::add.out", 10 * i);
      trace.delegate(1, "B", {{.id = 7, .ns = 100 * i}, {.id = 7, .ns = 1000}});
    }
    trace.end_run();
  }
  const etdump::EtDump dump = trace.dump();
  const MergedTrace merged = merge_runs(dump, {});
  ASSERT_THAT(merged.rows, SizeIs(3)) << "two operators of one identifier are two rows";
  EXPECT_EQ(merged.rows[0].kernel, "aten::add.out");
  EXPECT_EQ(merged.rows[0].times.calls_from(0), 2u * 3u);
  EXPECT_EQ(merged.rows[0].times.samples()[1].ns, 10 + 20 + 30);
  EXPECT_EQ(merged.rows[1].times.samples()[1].ns, 100 + 200 + 300);
  EXPECT_EQ(merged.rows[2].times.samples()[1].ns, 3 * 1000);
  EXPECT_THAT(merged.calls.at({.chain = 0, .index = 1}).rows, ElementsAre(1, 2));
  EXPECT_FALSE(merged.runs_differ);
}

// The second run adds a row between two rows of the first run.
TEST(MergeRuns, InsertsANewRowAfterThePrecedingRowOfTheSameRun) {
  TraceBuilder trace;
  for (const bool taken : {false, true}) {
    trace.kernel(0, "first", 1);
    if (taken) trace.kernel(1, "second", 1);
    trace.kernel(2, "third", 1);
    trace.end_run();
  }
  const etdump::EtDump dump = trace.dump();
  const MergedTrace merged = merge_runs(dump, {});
  std::vector<std::string_view> kernels;
  for (const TraceRow& row : merged.rows) kernels.push_back(row.kernel);
  EXPECT_THAT(kernels, ElementsAre("first", "second", "third"));
  EXPECT_TRUE(merged.runs_differ);
}

TEST(MergeRuns, OperatorMapEventsAreNotOperators) {
  TraceBuilder trace;
  trace.operator_map(0, "older");
  trace.operator_map(0, "newer");
  trace.delegate(0, "XnnpackBackend", {{.id = 2, .ns = 2}});
  const etdump::EtDump dump = trace.dump();
  const MergedTrace merged = merge_runs(dump, test::known_delegates());
  EXPECT_THAT(merged.rows, SizeIs(1));
  ASSERT_THAT(merged.operator_maps, SizeIs(1));
  const std::vector<OperatorMapText>& maps = merged.operator_maps.at({.chain = 0, .index = 0});
  ASSERT_THAT(maps, SizeIs(2));
  EXPECT_EQ(maps[1].text, "newer");
  EXPECT_EQ(maps[1].profile, test::known_delegates()[0]);
}

// The buffer has room for two runs with two records each, and for half of another run.
TEST(MergeRuns, OmitsRunsWithDroppedRecords) {
  TraceBuilder trace(5);
  for (int run = 0; run < 4; ++run) {
    trace.kernel(0, "aten::add.out", 100);
    trace.end_run();
  }
  const etdump::EtDump dump = trace.dump();
  const MergedTrace merged = merge_runs(dump, {});
  EXPECT_THAT(merged.wall_ns, SizeIs(2));
  EXPECT_EQ(merged.incomplete_runs, 4u - 2u);
  EXPECT_EQ(merged.dropped_records, 4u * 2u - 5u);
}

// Both chains have a delegate call and an operator 7 at instruction 1. The second chain runs first.
TEST(MergeRuns, CallsInDifferentChainsHaveSeparateRows) {
  etdump::EtDump dump;
  dump.blocks.push_back({.name = "Execute"});
  std::vector<etdump::ProfileEvent>& events = dump.blocks[0].profile_events;
  for (const int32_t chain : {1, 0}) {
    const uint64_t start = chain == 1 ? 0 : 100;
    events.push_back({.chain_index = chain,
                      .instruction_id = 1,
                      .delegate_debug_id = 7,
                      .start = start,
                      .end = start + 10});
    events.push_back({.name = "DELEGATE_CALL",
                      .chain_index = chain,
                      .instruction_id = 1,
                      .metadata = chain == 1 ? "A" : "B",
                      .start = start,
                      .end = start + 20});
  }
  events.push_back({.name = "Method::execute", .start = 0, .end = 200});
  const MergedTrace merged = merge_runs(dump, {});
  ASSERT_THAT(merged.rows, SizeIs(2));
  ASSERT_THAT(merged.calls, SizeIs(2));
  const TraceCall& first = merged.calls.at({.chain = 0, .index = 1});
  const TraceCall& second = merged.calls.at({.chain = 1, .index = 1});
  EXPECT_EQ(first.delegate, "B");
  EXPECT_EQ(second.delegate, "A");
  EXPECT_THAT(first.rows, ElementsAre(1));
  EXPECT_THAT(second.rows, ElementsAre(0));
  EXPECT_EQ(first.times.samples()[0].ns, 20);
  EXPECT_EQ(second.times.samples()[0].ns, 20);
  std::vector<uint32_t> calls;
  for (const TimelineEvent& event : merged.events) {
    if (event.kind == TimelineEvent::Kind::kDelegateCall) calls.push_back(event.index);
  }
  EXPECT_THAT(calls, ElementsAre(1, 0)) << "positions in `calls`, in run order";
}

etdump::EtDump one_run(uint64_t start, uint64_t end) {
  etdump::EtDump dump;
  dump.blocks.push_back(
      {.name = "Execute",
       .profile_events = {{.name = "Method::execute", .start = start, .end = end}}});
  return dump;
}

TEST(MergeRuns, AcceptsEndBeforeStartOnlyIfA32BitCounterWraps) {
  EXPECT_THROW(merge_runs(one_run(uint64_t{1} << 40, 5), {}), InspectorError);
  EXPECT_THROW(merge_runs(one_run(uint64_t{1} << 32, 5), {}), InspectorError);
  EXPECT_THAT(merge_runs(one_run(UINT32_MAX, 0), {}).wall_ns, ElementsAre(1));
  EXPECT_THAT(merge_runs(one_run(UINT32_MAX - 10, 5), {}).wall_ns, ElementsAre(11 + 5));
}

}  // namespace
}  // namespace vitrine::inspector
