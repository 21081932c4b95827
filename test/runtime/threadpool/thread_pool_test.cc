#include "vitrine/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace vitrine {
namespace {

using testing::HasSubstr;

TEST(ThreadPool, ZeroMeansPerformingCores) {
  const size_t cores = performing_core_count();
  EXPECT_GE(cores, 1u);
  EXPECT_LE(cores, std::max(1u, std::thread::hardware_concurrency()));
  const auto pool = ThreadPool::create(0);
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ((*pool)->threads(), cores);
}

TEST(ThreadPool, HasAsManyThreadsAsAsked) {
  const auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ((*pool)->threads(), 3u);
  EXPECT_NE((*pool)->handle(), nullptr);
}

TEST(ThreadPool, OneThreadIsTheCallers) {
  const auto pool = ThreadPool::create(1);
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ((*pool)->threads(), 1u);
  EXPECT_EQ((*pool)->handle(), nullptr);
}

TEST(ThreadPool, RefusesTooMany) {
  const auto pool = ThreadPool::create(1025);
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(pool.error().message(), HasSubstr("1025 threads"));
  EXPECT_FALSE(ThreadPool::create(SIZE_MAX).ok());
}

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kMillisecond = 1'000'000;

std::unique_ptr<ThreadPool> two_threads() {
  auto pool = ThreadPool::create(2);
  EXPECT_TRUE(pool.ok());
  return std::move(*pool);
}

TEST(ThreadPool, WakesWorkersForMuchWork) {
  const auto pool = two_threads();
  const uint64_t now = 100 * kMillisecond;
  EXPECT_FALSE(pool->pays(now, 10 * kMicrosecond));
  EXPECT_TRUE(pool->pays(now, ThreadPool::kMuchWork));
}

TEST(ThreadPool, LeavesRunsThatAreToBeAloneToTheirThread) {
  const auto pool = two_threads();
  RunTrial trial;
  for (uint64_t i = 1; i <= 40; ++i) {
    const uint64_t now = i * 100 * kMillisecond;
    const uint64_t start_ns = pool->begin_run(trial, 1);
    EXPECT_EQ(pool->pays(now, ThreadPool::kMuchWork), !trial.is_alone());
    EXPECT_EQ(pool->rests(now), trial.is_alone());
    pool->end_run(trial, start_ns);
    EXPECT_FALSE(pool->rests(now));
  }
}

TEST(ThreadPool, UsesAllThreadsAlwaysIfAsked) {
  const auto pool = ThreadPool::create(2, ThreadPool::Use::kAlways);
  ASSERT_TRUE(pool.ok());
  uint64_t now = 100 * kMillisecond;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE((*pool)->pays(now, 1));
    now += 100 * kMillisecond;
    (*pool)->account(now, 100 * kMillisecond, 1);
  }
}

TEST(ThreadPool, WakesWorkersForMuchWorkInSmallRegions) {
  const auto pool = two_threads();
  uint64_t now = 100 * kMillisecond;
  for (int i = 0; i < 10; ++i) {  // with long gaps: never
    EXPECT_FALSE(pool->pays(now, 20 * kMicrosecond));
    now += 200 * kMicrosecond;
  }
  int alone = 0;
  while (alone < 100 && !pool->pays(now, 20 * kMicrosecond)) {
    now += 21 * kMicrosecond;
    ++alone;
  }
  EXPECT_EQ(alone, 2);
}

TEST(ThreadPool, UsesWorkersThatAreAwake) {
  const auto pool = two_threads();
  uint64_t now = 100 * kMillisecond;
  ASSERT_TRUE(pool->pays(now, ThreadPool::kMuchWork));
  now += kMillisecond;
  pool->account(now, kMillisecond, kMillisecond);
  EXPECT_TRUE(pool->pays(now + 5 * kMicrosecond, 5 * kMicrosecond));
  EXPECT_FALSE(pool->pays(now + kMillisecond, 5 * kMicrosecond));
}

// Regions of 1 ms that workers make 4 ms long; how long callers then work alone.
uint64_t pause_after_losses(ThreadPool& pool, uint64_t& now) {
  for (int i = 0; i < 100 && !pool.rests(now); ++i) {
    EXPECT_TRUE(pool.pays(now, ThreadPool::kMuchWork));
    now += 4 * kMillisecond;
    pool.account(now, 4 * kMillisecond, kMillisecond);
  }
  const uint64_t start = now;
  EXPECT_TRUE(pool.rests(now));
  EXPECT_FALSE(pool.pays(now, ThreadPool::kMuchWork));
  while (pool.rests(now)) now += 100 * kMicrosecond;
  return now - start;
}

// A busy core: the caller does all of a region, and waits for a worker now and then.
TEST(ThreadPool, RestsIfWorkersSaveNothing) {
  for (const auto& [alone_ns, expected] :
       {std::pair(kMillisecond, true), {2 * kMillisecond, false}, {uint64_t{0}, false}}) {
    const auto pool = two_threads();
    uint64_t now = 100 * kMillisecond;
    bool rested = false;
    for (int i = 0; i < 200 && !rested; ++i) {
      ASSERT_TRUE(pool->pays(now, ThreadPool::kMuchWork));
      const uint64_t took = i % 10 == 0 ? 4 * kMillisecond : kMillisecond;
      now += took;
      pool->account(now, took, kMillisecond, alone_ns);
      rested = pool->rests(now);
    }
    EXPECT_EQ(rested, expected) << alone_ns;
  }
}

TEST(ThreadPool, RestsLongerEachTimeThatWorkersKeepCallersWaiting) {
  const auto pool = two_threads();
  uint64_t now = 100 * kMillisecond;
  const uint64_t first = pause_after_losses(*pool, now);
  const uint64_t second = pause_after_losses(*pool, now);
  EXPECT_GT(second, first);
  for (int i = 0; i < 20; ++i) pause_after_losses(*pool, now);
  EXPECT_LE(pause_after_losses(*pool, now), 600 * kMillisecond);
  now += 100'000 * kMillisecond;
  EXPECT_EQ(pause_after_losses(*pool, now), first);
}

TEST(ThreadPool, ForgivesALossThatIsMadeUpFor) {
  const auto pool = two_threads();
  uint64_t now = 100 * kMillisecond;
  for (int i = 0; i < 1000; ++i) {  // nine good regions, then one that lasts three times as long
    const uint64_t took = (i % 10 == 9 ? 3 : 1) * kMillisecond;
    now += took;
    pool->account(now, took, kMillisecond);
    ASSERT_FALSE(pool->rests(now));
  }
}

TEST(ThreadPool, RunsEachTaskOnceAlsoWhileItRests) {
  const auto pool = two_threads();
  struct Counts {
    std::atomic<int> of[64] = {};
  };
  const auto run = [&](uint64_t work_ns) {
    Counts counts;
    pool->run(
        64, [](void* argument, size_t i) { ++static_cast<Counts*>(argument)->of[i]; }, &counts,
        work_ns);
    for (const std::atomic<int>& count : counts.of) EXPECT_EQ(count, 1);
  };
  run(ThreadPool::kMuchWork);
  run(1);
  uint64_t far_future = uint64_t{1} << 62;  // beyond every clock
  pool->account(far_future, uint64_t{1} << 40, 0);
  ASSERT_TRUE(pool->rests(far_future));
  run(ThreadPool::kMuchWork);
}

}  // namespace
}  // namespace vitrine
