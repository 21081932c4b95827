#include "vitrine/run_trial.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

constexpr uint64_t kShape = 7;
constexpr int kTrialRuns = RunTrial::kRuns;

// Runs of `shape` that take so long on all threads and alone. Returns how many were alone.
int run(RunTrial& trial, int count, uint64_t threads_ns, uint64_t alone_ns,
        uint64_t shape = kShape) {
  int alone = 0;
  for (int i = 0; i < count; ++i) {
    trial.begin(shape);
    alone += trial.is_alone() ? 1 : 0;
    trial.end(trial.is_alone() ? alone_ns : threads_ns);
  }
  return alone;
}

TEST(RunTrial, TakesTheFasterWay) {
  for (const auto& [threads_ns, alone_ns, expected] :
       {std::tuple(700'000, 570'000, 100), {600'000, 700'000, 0}, {1000, 990, 0}}) {
    RunTrial trial;
    EXPECT_EQ(run(trial, kTrialRuns, threads_ns, alone_ns), 14);
    EXPECT_FALSE(trial.is_timed());
    EXPECT_EQ(run(trial, 100, threads_ns, alone_ns), expected) << threads_ns;
  }
}

TEST(RunTrial, FewStallsDecideNothing) {
  RunTrial trial;
  for (int i = 0; i < kTrialRuns; ++i) {
    trial.begin(kShape);
    const uint64_t usual = trial.is_alone() ? 100'000 : 60'000;
    trial.end(i % 4 == 3 ? 1'900'000 : usual);
  }
  EXPECT_EQ(run(trial, 10, 0, 0), 0);
}

TEST(RunTrial, LongRunsUseTheThreads) {
  RunTrial trial;
  EXPECT_EQ(run(trial, 100, 5'000'001, 1'000'000), 0);
  // Also where the run alone is the long one.
  RunTrial other;
  EXPECT_EQ(run(other, 100, 4'900'000, 5'100'000), 1);
}

TEST(RunTrial, StopsSoonWhereThreadsAreMuchFaster) {
  RunTrial trial;
  EXPECT_EQ(run(trial, 200, 1'400'000, 2'400'000), 3);
}

// The first trial holds for 256 runs, the second for 1024, later ones for 4096.
TEST(RunTrial, BeginsAnewEverLater) {
  RunTrial trial;
  for (const int valid : {256, 1024, 4096, 4096}) {
    EXPECT_EQ(run(trial, kTrialRuns, 600'000, 700'000), 14);
    EXPECT_EQ(run(trial, valid - kTrialRuns, 600'000, 700'000), 0);
  }
  EXPECT_EQ(run(trial, kTrialRuns, 700'000, 570'000), 14);
  EXPECT_EQ(run(trial, 10, 700'000, 570'000), 10);
}

TEST(RunTrial, RemembersAFewShapes) {
  RunTrial trial;
  run(trial, kTrialRuns, 700'000, 570'000);
  for (uint64_t other = 1; other <= 3; ++other) {  // its trial is not over when it ends
    EXPECT_EQ(run(trial, 4, 600'000, 700'000, kShape + other), 0);
    EXPECT_TRUE(trial.is_timed());
    EXPECT_EQ(run(trial, 5, 700'000, 570'000), 5) << "as decided before";
  }
  EXPECT_EQ(run(trial, kTrialRuns, 600'000, 700'000, kShape + 1), 14) << "anew, and whole";
  run(trial, 1, 600'000, 700'000, kShape + 4);
  run(trial, 1, 600'000, 700'000, kShape + 5);
  run(trial, 1, 600'000, 700'000, kShape + 6);
  EXPECT_EQ(run(trial, 4, 700'000, 570'000), 0) << "forgotten";
  EXPECT_TRUE(trial.is_timed());
}

}  // namespace
}  // namespace vitrine
