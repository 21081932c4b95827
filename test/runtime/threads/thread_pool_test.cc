#include "vitrine/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "test/support/results.h"

namespace vitrine {
namespace {

using testing::HasSubstr;

TEST(ThreadPool, ZeroSelectsPerformanceCores) {
  const size_t cores = performing_core_count();
  EXPECT_GE(cores, 1u);
  EXPECT_LE(cores, std::max(1u, std::thread::hardware_concurrency()));
  const auto pool = test::require(ThreadPool::create(0));
  EXPECT_EQ(pool->threads(), cores);
}

TEST(ThreadPool, HasTheRequestedNumberOfThreads) {
  const auto pool = test::require(ThreadPool::create(3, ThreadPool::Use::kAlways));
  EXPECT_EQ(pool->threads(), 3u);
  EXPECT_NE(pool->handle(), nullptr);
}

TEST(ThreadPool, AdaptivePoolHasNoMoreThreadsThanProcessors) {
  const auto pool = test::require(ThreadPool::create(1024));
  EXPECT_GE(pool->threads(), 2u);
  EXPECT_LE(pool->threads(), std::max(2u, std::thread::hardware_concurrency()));
}

TEST(ThreadPool, OneThreadHasNoWorkers) {
  const auto pool = test::require(ThreadPool::create(1));
  EXPECT_EQ(pool->threads(), 1u);
  EXPECT_EQ(pool->handle(), nullptr);
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
