#include "runtime/threads/thread_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <tuple>
#include <vector>

#include "test/support/results.h"
#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMinWork = ThreadPool::kMinWorkNs;
constexpr uint64_t kLargeWork = ThreadPool::kLargeWorkNs;
constexpr uint64_t kWakeWork = ThreadPolicy::kWakeWorkNs;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSleep = kMillisecond;  // after this, workers have gone to sleep

// These simulated clocks advance only when a test advances them.
uint64_t wall_ns = 0;
uint64_t cpu_ns = 0;

class ThreadPolicyTest : public testing::Test {
 protected:
  ThreadPolicyTest() {
    wall_ns = 100 * kMillisecond;
    cpu_ns = kMillisecond;
  }

  static void pass(uint64_t wall, uint64_t cpu) {
    wall_ns += wall;
    cpu_ns += cpu;
  }
  // Simulates a run that contains one large parallel loop. Returns true if the policy allows the
  // run to use the workers.
  static bool run(ThreadPolicy& policy, uint64_t wall, uint64_t cpu) {
    ThreadPolicy::Run run;
    const bool in_parallel = policy.allows(run, kLargeWork);
    pass(wall, cpu);
    policy.end(run);
    return in_parallel;
  }
  // Returns the number of runs that use workers before the policy pauses. Counts at most 1000 runs.
  static int runs_until_pause(ThreadPolicy& policy, uint64_t wall, uint64_t cpu) {
    int runs = 0;
    while (runs < 1000 && run(policy, wall, cpu)) ++runs;
    return runs;
  }
  // Returns the length in ms of the policy's pause. Must be called right after the pause begins.
  static uint64_t pause_length(ThreadPolicy& policy) {
    uint64_t length = 1;  // counts the run that began the pause
    while (length < 1000 && !run(policy, kMillisecond, kMillisecond)) ++length;
    return length;
  }

  ThreadPolicy::Demand demand;
  const ThreadPolicy::Clocks clocks{[] { return wall_ns; }, [] { return cpu_ns; }};
  ThreadPolicy policy_{2, 2, demand, clocks};  // two threads on two processors
};

TEST_F(ThreadPolicyTest, SmallRegionsRunOnTheCallingThread) {
  ThreadPolicy::Run run;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(policy_.allows(run, kMinWork - 1));
  EXPECT_EQ(run.work_ns, 0U);
  EXPECT_TRUE(policy_.allows(run, kLargeWork));
  EXPECT_FALSE(policy_.allows(run, kMinWork - 1));
  EXPECT_TRUE(policy_.allows(run, kMinWork));
  policy_.end(run);
}

TEST_F(ThreadPolicyTest, EachRunUsesWorkersAfterEnoughWork) {
  for (int i = 0; i < 3; ++i) {
    ThreadPolicy::Run run;
    EXPECT_FALSE(policy_.allows(run, kMinWork));
    EXPECT_FALSE(policy_.allows(run, kWakeWork - kMinWork - 1));
    EXPECT_TRUE(policy_.allows(run, kMinWork));
    EXPECT_TRUE(policy_.allows(run, kMinWork));
    policy_.end(run);
    EXPECT_EQ(run.work_ns, 0U);
    pass(kSleep, 0);
    EXPECT_TRUE(policy_.allows(run, kWakeWork)) << "a single region is large enough";
    policy_.end(run);
    pass(kSleep, 0);
  }
}

TEST_F(ThreadPolicyTest, SmallRegionsUseWorkersThatStillSpin) {
  constexpr uint64_t kSpin = ThreadPolicy::kSpinNs;
  for (const auto& [work, gap, expected] : {std::tuple(kWakeWork, uint64_t{0}, true),
                                            {kWakeWork, kWakeWork / 2 + kSpin - 1, true},
                                            {kWakeWork, kWakeWork / 2 + kSpin, false},
                                            {2 * kSpin, 2 * kSpin - 1, true},
                                            {2 * kSpin, 2 * kSpin, false},
                                            {kLargeWork, 2 * kMillisecond, false}}) {
    SCOPED_TRACE(testing::Message() << work << " ns of work, then " << gap << " ns");
    ThreadPolicy policy(2, 2, demand, clocks);
    ThreadPolicy::Run first;
    ASSERT_TRUE(policy.allows(first, work));
    policy.end(first);
    pass(gap, 0);
    ThreadPolicy::Run run;
    EXPECT_EQ(policy.allows(run, kMinWork), expected);
    EXPECT_EQ(demand.runs, expected ? 1U : 0U);
    EXPECT_FALSE(policy.allows(run, kMinWork - 1));
    policy.end(run);
  }
}

TEST_F(ThreadPolicyTest, SmallRegionsDoNotUseWorkersRightAfterAPause) {
  runs_until_pause(policy_, kMillisecond, kMillisecond / 10);
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(run(policy_, kMillisecond, kMillisecond));
  pass(20 * kMillisecond, 0);
  ThreadPolicy::Run run;
  EXPECT_FALSE(policy_.allows(run, kMinWork)) << "no region has used the workers since the pause";
  EXPECT_TRUE(policy_.allows(run, kLargeWork));
  policy_.end(run);
}

TEST_F(ThreadPolicyTest, CountsRunsWithEnoughWorkForSeveralThreads) {
  ThreadPolicy::Run run;
  policy_.allows(run, kMinWork);
  EXPECT_EQ(demand.runs, 0U);
  policy_.allows(run, kLargeWork);
  policy_.allows(run, kLargeWork);
  EXPECT_EQ(demand.runs, 1U);
  policy_.end(run);
  policy_.end(run);
  EXPECT_EQ(demand.runs, 0U);
}

TEST_F(ThreadPolicyTest, RequiresTwoProcessorsPerRun) {
  for (const auto& [processors, runs, expected] : {std::tuple(size_t{1}, size_t{1}, false),
                                                   {2, 1, true},
                                                   {2, 2, false},
                                                   {3, 2, false},
                                                   {4, 2, true},
                                                   {5, 3, false},
                                                   {6, 3, true}}) {
    SCOPED_TRACE(testing::Message() << processors << " processors, " << runs << " runs");
    ThreadPolicy other(2, 64, demand, clocks);
    std::vector<ThreadPolicy::Run> others(runs - 1);
    for (ThreadPolicy::Run& each : others) EXPECT_TRUE(other.allows(each, kLargeWork));
    ThreadPolicy policy(2, processors, demand, clocks);
    EXPECT_EQ(run(policy, kMillisecond, kMillisecond), expected);
    for (ThreadPolicy::Run& each : others) other.end(each);
    EXPECT_EQ(run(policy, kMillisecond, kMillisecond), expected) << "other runs have just ended";
    pass(60 * kMillisecond, 0);
    EXPECT_EQ(run(policy, kMillisecond, kMillisecond), processors > 1);
  }
}

TEST_F(ThreadPolicyTest, RequiresAProcessorForEachThreadOfActivePools) {
  for (const auto& [processors, pools, expected] : {std::tuple(size_t{3}, size_t{1}, false),
                                                    {4, 1, true},
                                                    {7, 2, false},
                                                    {8, 2, true},
                                                    {15, 3, false},
                                                    {16, 3, true}}) {
    SCOPED_TRACE(testing::Message() << processors << " processors, " << pools << " pools");
    ThreadPolicy other1(4, 64, demand, clocks);
    ThreadPolicy other2(8, 64, demand, clocks);
    ThreadPolicy policy(4, processors, demand, clocks);
    ThreadPolicy::Run run1;
    ThreadPolicy::Run run2;
    if (pools > 1) other1.allows(run1, kLargeWork);
    if (pools > 2) other2.allows(run2, kLargeWork);
    EXPECT_EQ(run(policy, kMillisecond, kMillisecond), expected);
    other1.end(run1);
    other2.end(run2);
    EXPECT_EQ(demand.threads, 0U);
  }
}

TEST_F(ThreadPolicyTest, CountsThreadsOfASharedPoolOnce) {
  ThreadPolicy policy(4, 4, demand, clocks);
  ThreadPolicy::Run first;
  ThreadPolicy::Run second;
  EXPECT_TRUE(policy.allows(first, kLargeWork));
  EXPECT_TRUE(policy.allows(second, kLargeWork));
  EXPECT_EQ(demand.threads, 4U);
  policy.end(first);
  EXPECT_EQ(demand.threads, 4U);
  policy.end(second);
  EXPECT_EQ(demand.threads, 0U);
}

TEST_F(ThreadPolicyTest, PausesIfWaitingCostsMoreThanWorkersSave) {
  // The policy assumes that each worker saves 0.4 of the caller's processor time.
  for (const auto& [threads, cpu_percent, pauses] : {std::tuple(size_t{2}, uint64_t{100}, false),
                                                     {2, 75, false},
                                                     {2, 65, true},
                                                     {2, 10, true},
                                                     {5, 40, false},
                                                     {5, 35, true}}) {
    ThreadPolicy policy(threads, 16, demand, clocks);
    const int runs = runs_until_pause(policy, kMillisecond, cpu_percent * kMillisecond / 100);
    EXPECT_EQ(runs < 1000, pauses) << threads << " threads, " << cpu_percent << " %";
    EXPECT_GT(runs, 10) << "a loss of 10 ms is small";
  }
}

TEST_F(ThreadPolicyTest, TimeBetweenRunsDoesNotCountAsWaitingForAProcessor) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(run(policy_, kMillisecond, kMillisecond));
    pass(50 * kMillisecond, 0);
  }
}

TEST_F(ThreadPolicyTest, CanPauseWithinALongRun) {
  ThreadPolicy::Run run;
  int regions = 0;
  while (regions < 1000 && policy_.allows(run, kLargeWork)) {
    pass(kMillisecond, kMillisecond / 10);
    ++regions;
  }
  EXPECT_LT(regions, 30);
  pass(200 * kMillisecond, 200 * kMillisecond);
  EXPECT_TRUE(policy_.allows(run, kLargeWork)) << "the caller had a processor during the pause";
  pass(kMillisecond, kMillisecond);
  EXPECT_TRUE(policy_.allows(run, kLargeWork));
  policy_.end(run);
}

TEST_F(ThreadPolicyTest, PauseCausedByAnotherRunDoesNotCountAsWaitingForAProcessor) {
  ThreadPolicy policy(2, 4, demand, clocks);
  ThreadPolicy::Run waiting;
  EXPECT_TRUE(policy.allows(waiting, kLargeWork));
  EXPECT_LT(runs_until_pause(policy, kMillisecond, kMillisecond / 10), 1000);
  EXPECT_FALSE(policy.allows(waiting, kLargeWork));
  pass(200 * kMillisecond, 200 * kMillisecond);
  EXPECT_TRUE(policy.allows(waiting, kLargeWork));
  policy.end(waiting);
  EXPECT_TRUE(run(policy, kMillisecond, kMillisecond));
}

TEST_F(ThreadPolicyTest, StaysPausedWhileTheOnlyThreadWaitsForAProcessor) {
  runs_until_pause(policy_, kMillisecond, kMillisecond / 10);
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(run(policy_, 4 * kMillisecond, 2 * kMillisecond)) << "run " << i;
  }
  EXPECT_LE(pause_length(policy_), 11U) << "the pause has its former length";
}

TEST_F(ThreadPolicyTest, ShortWaitsDoNotExtendThePause) {
  runs_until_pause(policy_, kMillisecond, kMillisecond / 10);
  int runs = 0;
  while (runs < 1000 && !run(policy_, kMillisecond, kMillisecond / 10)) ++runs;
  EXPECT_LE(runs, 11) << "a run waits for 0.9 ms";
}

TEST_F(ThreadPolicyTest, PausesGetLongerAfterRepeatedLosses) {
  uint64_t previous = 0;
  for (const uint64_t expected : {10, 20, 40, 80, 160, 320, 500, 500}) {
    const int runs = runs_until_pause(policy_, kMillisecond, kMillisecond / 10);
    EXPECT_GT(runs, 1);
    EXPECT_LT(runs, previous == 0 ? 20 : 5) << "losses after a pause are noticed sooner";
    const uint64_t length = pause_length(policy_);
    EXPECT_LE(length, expected);
    EXPECT_GE(length, expected - 1);
    EXPECT_GE(length, previous);
    previous = length;
  }
  pass(100 * 500 * kMillisecond, 0);
  runs_until_pause(policy_, kMillisecond, kMillisecond / 10);
  EXPECT_LE(pause_length(policy_), 10U) << "a long time without losses resets the pause";
}

TEST(ThreadPool, ZeroSelectsPerformanceCores) {
  const size_t cores = performing_core_count();
  EXPECT_GE(cores, 1u);
  EXPECT_LE(cores, std::max(1u, std::thread::hardware_concurrency()));
  const auto pool = test::require(ThreadPool::create(0));
  EXPECT_EQ(pool->threads(), cores);
}

TEST(ThreadPool, HasTheRequestedNumberOfThreadsAndWorkersIfThereAreSeveral) {
  for (const auto& [threads, use] :
       {std::pair(size_t{1}, ThreadPool::Use::kAdaptive), {3, ThreadPool::Use::kAlways}}) {
    const auto pool = test::require(ThreadPool::create(threads, use));
    EXPECT_EQ(pool->threads(), threads);
    EXPECT_EQ(pool->handle() != nullptr, threads > 1);
  }
}

TEST(ThreadPool, AdaptivePoolHasNoMoreThreadsThanProcessors) {
  const auto pool = test::require(ThreadPool::create(1024));
  EXPECT_GE(pool->threads(), 2u);
  EXPECT_LE(pool->threads(), std::max(2u, std::thread::hardware_concurrency()));
}

TEST(ThreadPool, RejectsTooManyThreads) {
  EXPECT_THAT(ThreadPool::create(1025),
              test::FailsWith(ErrorCode::kInvalidArgument, HasSubstr("1025 threads")));
  EXPECT_FALSE(ThreadPool::create(SIZE_MAX).ok());
}

TEST(ThreadPool, UsesWorkersOnlyForLargeRegions) {
  const auto pool = test::require(ThreadPool::create(2, ThreadPool::Use::kAdaptive));
  for (int i = 0; i < 100; ++i) {
    pool->begin_run();
    EXPECT_FALSE(pool->should_parallelize(ThreadPool::kMinWorkNs - 1));
    EXPECT_FALSE(pool->should_parallelize(ThreadPool::kMinWorkNs)) << "workers are asleep";
    pool->end_run();
  }
  if (performing_core_count() > 1) {
    EXPECT_TRUE(pool->should_parallelize(ThreadPool::kLargeWorkNs));
  }
}

TEST(ThreadPool, RunsThatCompeteForProcessorsUseOneThread) {
  const auto pool = test::require(ThreadPool::create(2));
  const auto large = [](ThreadPool& of) { return of.should_parallelize(ThreadPool::kLargeWorkNs); };
  // All runs overlap: each thread ends its run only after all threads have decided whether to use
  // workers.
  const size_t count = std::thread::hardware_concurrency() / 2 + 1;
  std::atomic<size_t> begun{0};
  std::atomic<size_t> decided{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      pool->begin_run();
      large(*pool);
      ++begun;
      while (begun < count) std::this_thread::yield();
      EXPECT_FALSE(large(*pool));
      ++decided;
      while (decided < count) std::this_thread::yield();
      pool->end_run();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadPool, AlwaysUsesAllThreadsOnRequest) {
  const auto pool = test::require(ThreadPool::create(2, ThreadPool::Use::kAlways));
  for (int i = 0; i < 100; ++i) {
    pool->begin_run();
    EXPECT_TRUE(pool->should_parallelize(ThreadPool::kMinWorkNs));
    pool->end_run();
  }
}

TEST(ThreadPool, OneThreadNeverParallelizes) {
  for (const auto use : {ThreadPool::Use::kAdaptive, ThreadPool::Use::kAlways}) {
    const auto pool = test::require(ThreadPool::create(1, use));
    pool->begin_run();
    EXPECT_FALSE(pool->should_parallelize(ThreadPool::kLargeWorkNs));
    pool->end_run();
  }
}

TEST(ThreadPool, RunsEachTaskOnce) {
  for (const size_t threads : {1, 2, 3}) {
    const auto pool = test::require(ThreadPool::create(threads));
    struct Counts {
      std::atomic<int> of[64] = {};
    } counts;
    pool->run(
        64, [](void* argument, size_t i) { ++static_cast<Counts*>(argument)->of[i]; }, &counts);
    for (const std::atomic<int>& count : counts.of) EXPECT_EQ(count, 1);
  }
}

}  // namespace
}  // namespace vitrine
