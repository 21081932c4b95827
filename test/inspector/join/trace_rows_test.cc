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

TEST(RunTimes, SumTheCallsOfARun) {
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

TEST(MergeRuns, ARowIsWhatRecurs) {
  TraceBuilder trace;
  for (int run = 0; run < 2; ++run) {
    trace.begin_run();
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
  EXPECT_THAT(merged.calls.at(1).rows, ElementsAre(1, 2));
  EXPECT_FALSE(merged.runs_differ);
}

// What the second run adds stands after the row before it.
TEST(MergeRuns, PutsARowWhereItsRunHasIt) {
  TraceBuilder trace;
  for (const bool taken : {false, true}) {
    trace.begin_run();
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

TEST(MergeRuns, PlansAreNotOperators) {
  TraceBuilder trace;
  trace.plan(0, "older");
  trace.plan(0, "newer");
  trace.begin_run();
  trace.delegate(0, "XnnpackBackend", {{.id = 2, .ns = 2}});
  trace.end_run();
  const etdump::EtDump dump = trace.dump();
  const MergedTrace merged = merge_runs(dump, test::known_delegates());
  EXPECT_THAT(merged.rows, SizeIs(1));
  ASSERT_THAT(merged.plans.at(0), SizeIs(2));
  EXPECT_EQ(merged.plans.at(0)[1].text, "newer");
  EXPECT_EQ(merged.plans.at(0)[1].profile, test::known_delegates()[0]);
}

// Room for two runs of two records, and half a run.
TEST(MergeRuns, LeavesRunsWithDroppedRecordsOut) {
  TraceBuilder trace(5);
  for (int run = 0; run < 4; ++run) {
    trace.begin_run();
    trace.kernel(0, "aten::add.out", 100);
    trace.end_run();
  }
  const etdump::EtDump dump = trace.dump();
  const MergedTrace merged = merge_runs(dump, {});
  EXPECT_THAT(merged.wall_ns, SizeIs(2));
  EXPECT_EQ(merged.incomplete_runs, 4u - 2u);
  EXPECT_EQ(merged.dropped_records, 4u * 2u - 5u);
}

TEST(MergeRuns, RefusesTimesThatRunBackwards) {
  etdump::EtDump dump;
  dump.blocks.push_back(
      {.name = "Execute",
       .profile_events = {{.name = "Method::execute", .start = uint64_t{1} << 40, .end = 5}}});
  EXPECT_THROW(merge_runs(dump, {}), InspectorError);
  // 32-bit counters wrap.
  dump.blocks[0].profile_events[0].start = UINT32_MAX - 10;
  EXPECT_THAT(merge_runs(dump, {}).wall_ns, ElementsAre(15));
}

}  // namespace
}  // namespace vitrine::inspector
