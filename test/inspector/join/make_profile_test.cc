#include "inspector/join/make_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "inspector/report/report_table.h"
#include "test/support/joined_profile.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using test::TraceBuilder;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Kind = TraceRecord::Kind;

double sum_of_rows(const Profile& profile) {
  return std::accumulate(profile.rows.begin(), profile.rows.end(), 0.0,
                         [](double sum, const ProfileRow& row) { return sum + row.time.avg; });
}

// In nine of ten runs, the two kernels take 600 ns in total. In one run, the shorter kernel stalls
// for a millisecond.
TEST(MakeProfile, StalledRunsDoNotChangeRanks) {
  TraceBuilder trace;
  for (int run = 0; run < 10; ++run) {
    trace.kernel(0, "aten::mul.out", 500);
    trace.kernel(1, "aten::add.out", run == 4 ? 1'000'000 : 100);
    trace.end_run();
  }
  const Profile profile = make_profile(trace.dump(), nullptr);
  EXPECT_EQ(profile.outlier_runs, 1u);
  EXPECT_DOUBLE_EQ(profile.rows[0].time.p50, 500);
  EXPECT_DOUBLE_EQ(profile.rows[1].time.p50, 100);
  EXPECT_DOUBLE_EQ(profile.rows[1].time.avg, (9 * 100 + 1'000'000) / 10.0);
  EXPECT_DOUBLE_EQ(profile.rows[1].time.max, 1'000'000);
  EXPECT_DOUBLE_EQ(profile.rows[0].share, 500 / (600 + profile.unattributed.p50));
  EXPECT_DOUBLE_EQ(sum_of_rows(profile) + profile.unattributed.avg, profile.wall.avg);
  const std::string table = report_table(profile);
  EXPECT_THAT(table, HasSubstr("slowest  #1 mul"));
  EXPECT_THAT(profile.notes,
              Contains("1 of 10 runs took more than twice the median, 1 ms longer in total"));
}

// In each run a different row stalls, so that the average of every row is far from its median.
TEST(MakeProfile, SharesOfMedianTimesAddUpToOne) {
  TraceBuilder trace;
  for (int run = 0; run < 6; ++run) {
    for (int row = 0; row < 6; ++row) {
      trace.kernel(row, "aten::mul.out", row == run ? 100'000 : 100 * (row + 1));
    }
    trace.end_run();
  }
  const Profile profile = make_profile(trace.dump(), nullptr);
  const double sum = 100 * (1 + 2 + 3 + 4 + 5 + 6) + profile.unattributed.p50;
  double shares = profile.unattributed_share();
  EXPECT_GE(shares, 0);
  for (size_t row = 0; row < 6; ++row) {
    EXPECT_DOUBLE_EQ(profile.rows[row].share, 100 * static_cast<double>(row + 1) / sum);
    shares += profile.rows[row].share;
  }
  EXPECT_DOUBLE_EQ(shares, 1);
}

TEST(MakeProfile, ReportsShortStallsInMicroseconds) {
  TraceBuilder trace;
  for (int run = 0; run < 10; ++run) {
    trace.kernel(0, "aten::add.out", run == 4 ? 5000 : 100);
    trace.end_run();
  }
  EXPECT_THAT(make_profile(trace.dump(), nullptr).notes,
              Contains(HasSubstr("4.9 us longer in total")));
}

// A program that returns its inputs has no instructions.
TEST(MakeProfile, AcceptsRunsWithoutRows) {
  TraceBuilder trace;
  trace.begin_run();
  trace.end_run();
  const std::string table = report_table(make_profile(trace.dump(), nullptr));
  EXPECT_THAT(table, HasSubstr("no operators"));
  EXPECT_THAT(table, HasSubstr("\n  unattributed (dispatch)"));
  EXPECT_THAT(table, HasSubstr("\n  wall  "));
  EXPECT_THAT(table, Not(HasSubstr("op type")));
}

TEST(MakeProfile, RunsThatTakeADifferentBranchAreNotOutliers) {
  TraceBuilder trace;
  for (int run = 0; run < 10; ++run) {
    if (run == 4) {
      trace.kernel(1, "aten::bmm.out", 1'000'000);
    } else {
      trace.kernel(0, "aten::mul.out", 500);
    }
    trace.end_run();
  }
  const Profile profile = make_profile(trace.dump(), nullptr);
  EXPECT_TRUE(profile.runs_differ);
  EXPECT_EQ(profile.outlier_runs, 0u);
}

TEST(MakeProfile, RowsAndUnattributedTimeAddUpToTheWallTime) {
  TraceBuilder trace;
  trace.kernel(0, "aten::add.out", 500, "portable");
  trace.delegate(1, "B", {{.id = 1, .ns = 700}, {.name = "x", .ns = 300}});
  trace.control(2, Kind::kMove, 20);
  const uint64_t wall = trace.end_run();
  const Profile profile = test::joined_profile(trace.dump(), nullptr);
  EXPECT_EQ(profile.runs, 1u);
  EXPECT_DOUBLE_EQ(profile.wall.avg, static_cast<double>(wall));
  ASSERT_EQ(profile.rows.size(), 4u);
  EXPECT_DOUBLE_EQ(sum_of_rows(profile), 500 + 700 + 300 + 20);
  EXPECT_DOUBLE_EQ(sum_of_rows(profile) + profile.unattributed.avg, profile.wall.avg);
  EXPECT_EQ(profile.rows[0].where, Where::kKernel);
  EXPECT_EQ(profile.rows[0].kernel, "aten::add.out");
  EXPECT_EQ(profile.rows[0].library, "portable");
  EXPECT_EQ(profile.rows[1].where, Where::kDelegate);
  EXPECT_EQ(profile.rows[1].delegate, "B");
  EXPECT_EQ(profile.rows[1].partition, 0);
  EXPECT_EQ(profile.rows[2].identifier, "x");
  EXPECT_EQ(profile.rows[3].where, Where::kControl);
  EXPECT_EQ(profile.rows[3].kernel, "move");
  ASSERT_EQ(profile.delegate_calls.size(), 1u);
  EXPECT_EQ(profile.delegate_calls[0].operators, 2u);
  EXPECT_GT(profile.delegate_calls[0].time.avg, 1000);
}

TEST(MakeProfile, ComputesStatisticsOverRuns) {
  TraceBuilder trace;
  trace.init(3000, "Method::init_delegates");
  trace.init(200, "Method::plan_delegates");
  trace.init(4321);
  std::vector<double> walls;
  for (const uint64_t ns : {200u, 400u, 250u, 500u, 300u}) {
    trace.kernel(0, "aten::add.out", ns);
    trace.kernel(1, "aten::mul.out", 2 * ns);
    walls.push_back(static_cast<double>(trace.end_run()));
  }
  const Profile profile = test::joined_profile(trace.dump(), nullptr);
  EXPECT_EQ(profile.runs, 5u);
  EXPECT_FALSE(profile.runs_differ);
  const TimeStatistics& add = profile.rows[0].time;
  EXPECT_DOUBLE_EQ(add.min, 200);
  EXPECT_DOUBLE_EQ(add.p50, 300);
  EXPECT_DOUBLE_EQ(add.p90, 400 + 0.6 * 100);  // rank 0.9 * 4 = 3.6
  EXPECT_DOUBLE_EQ(add.max, 500);
  EXPECT_DOUBLE_EQ(add.avg, 330);
  EXPECT_DOUBLE_EQ(profile.rows[0].calls, 1);
  const double wall = std::accumulate(walls.begin(), walls.end(), 0.0) / 5;
  EXPECT_DOUBLE_EQ(profile.wall.avg, wall);
  EXPECT_DOUBLE_EQ(profile.rows[0].share, 300 / (300 + 600 + 300.0));
  EXPECT_DOUBLE_EQ(profile.unattributed.avg, wall - 330 - 660);
  EXPECT_DOUBLE_EQ(profile.unattributed.min, 300) << "100 ns before each record and at the end";
  EXPECT_EQ(profile.run.init_ns, 4321u);
  EXPECT_EQ(profile.run.pack_ns, 3000u);
  EXPECT_EQ(profile.run.plan_ns, 200u);
}

TEST(MakeProfile, AddsUpTheIterationsOfALoop) {
  TraceBuilder trace;
  for (int run = 0; run < 2; ++run) {
    for (uint64_t i = 1; i <= 3; ++i) {
      trace.kernel(0, "aten::add.out", 10 * i);
      trace.delegate(1, "B", {{.id = 7, .ns = 100 * i}, {.id = 7, .ns = 1000}});
    }
    trace.end_run();
  }
  const Profile profile = test::joined_profile(trace.dump(), nullptr);
  ASSERT_EQ(profile.rows.size(), 3u) << "two operators of one identifier are two rows";
  EXPECT_DOUBLE_EQ(profile.rows[0].calls, 3);
  EXPECT_DOUBLE_EQ(profile.rows[0].time.avg, 60);
  EXPECT_DOUBLE_EQ(profile.rows[1].calls, 3);
  EXPECT_DOUBLE_EQ(profile.rows[1].time.avg, 600);
  EXPECT_DOUBLE_EQ(profile.rows[2].time.avg, 3000);
  EXPECT_FALSE(profile.runs_differ);
  EXPECT_DOUBLE_EQ(sum_of_rows(profile) + profile.unattributed.avg, profile.wall.avg);
}

TEST(MakeProfile, RunsThatTakeDifferentBranchesAreMerged) {
  TraceBuilder trace;
  for (const bool taken : {true, false, true, true}) {
    trace.kernel(0, "aten::gt.Scalar_out", 10);
    trace.control(1, Kind::kJumpFalse, 1);
    if (taken) trace.kernel(2, "aten::add.out", 40);
    if (!taken) trace.kernel(3, "aten::sub.out", 80);
    trace.kernel(4, "aten::mul.out", 5);
    trace.end_run();
  }
  const Profile profile = test::joined_profile(trace.dump(), nullptr);
  EXPECT_TRUE(profile.runs_differ);
  EXPECT_STREQ(profile.statistic(), "avg");
  EXPECT_THAT(profile.notes, Contains(HasSubstr("not all runs")));
  std::vector<std::string> kernels;
  for (const ProfileRow& row : profile.rows) kernels.push_back(row.kernel);
  ASSERT_THAT(kernels,
              testing::UnorderedElementsAre("aten::gt.Scalar_out", "jump_false", "aten::add.out",
                                            "aten::sub.out", "aten::mul.out"));
  EXPECT_EQ(kernels.front(), "aten::gt.Scalar_out");
  EXPECT_EQ(kernels.back(), "aten::mul.out");
  for (const ProfileRow& row : profile.rows) {
    if (row.kernel == "aten::add.out") {
      EXPECT_DOUBLE_EQ(row.calls, 0.75);
      EXPECT_DOUBLE_EQ(row.time.avg, 30);
      EXPECT_DOUBLE_EQ(profile.typical(row.time), 30);
      EXPECT_DOUBLE_EQ(row.time.min, 0);
      EXPECT_DOUBLE_EQ(row.time.max, 40);
    }
  }
  EXPECT_DOUBLE_EQ(sum_of_rows(profile) + profile.unattributed.avg, profile.wall.avg);
}

TEST(MakeProfile, OmitsRunsWithDroppedRecords) {
  TraceBuilder trace(5);  // room for two runs of two records, and half a run
  for (int run = 0; run < 4; ++run) {
    trace.kernel(0, "aten::add.out", 100);
    trace.end_run();
  }
  const Profile profile = test::joined_profile(trace.dump(), nullptr);
  EXPECT_EQ(profile.runs, 2u);
  EXPECT_EQ(profile.incomplete_runs, 2u);
  EXPECT_EQ(profile.dropped_records, 3u);
  EXPECT_DOUBLE_EQ(profile.rows[0].time.avg, 100);
  EXPECT_THAT(profile.notes, Contains(HasSubstr("3 records")));
}

TEST(MakeProfile, RejectsATraceWithoutACompleteRun) {
  TraceBuilder trace;
  trace.init(1);
  EXPECT_THROW(test::joined_profile(trace.dump(), nullptr), InspectorError);
}

}  // namespace
}  // namespace vitrine::inspector
