#include "kernels/util/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "test/support/results.h"
#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

constexpr int64_t kMuchWork = 100 * kParallelWork;

std::unique_ptr<ThreadPool> pool_of(size_t threads) {
  return test::require(ThreadPool::create(threads, ThreadPool::Use::kAlways));
}

TEST(Parallel, RunsEveryItemOnceWithDistinctWorkers) {
  const auto pool = pool_of(4);
  KernelContext context(nullptr, pool.get());
  ASSERT_EQ(worker_count(context), 4);
  for (const int64_t items : {0, 1, 2, 3, 5, 64, 1001}) {
    SCOPED_TRACE(items);
    std::vector<std::atomic<int>> runs(static_cast<size_t>(items));
    std::atomic<bool> busy[4] = {};
    std::atomic<bool> shared{false};
    parallel(context, items, kMuchWork, [&](int64_t item, int64_t worker) {
      if (busy[worker].exchange(true)) shared = true;
      ++runs[static_cast<size_t>(item)];
      busy[worker] = false;
    });
    EXPECT_FALSE(shared);
    for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
  }
}

// The first item keeps one worker busy until all other items have run. The other worker must
// therefore run all of them, even the items that were assigned to the busy worker.
TEST(Parallel, IdleWorkersTakeItemsFromASlowWorker) {
  const auto pool = pool_of(2);
  KernelContext context(nullptr, pool.get());
  constexpr int64_t kItems = 100;
  std::atomic<int64_t> others{0};
  parallel(context, kItems, kMuchWork, [&](int64_t item, int64_t) {
    if (item != 0) {
      ++others;
      return;
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (others < kItems - 1 && std::chrono::steady_clock::now() < limit) {
      std::this_thread::yield();
    }
    EXPECT_EQ(others, kItems - 1);
  });
}

TEST(Parallel, RunsSmallJobsOnTheCallingThread) {
  const auto pool = pool_of(4);
  KernelContext context(nullptr, pool.get());
  const auto caller = std::this_thread::get_id();
  int64_t next = 0;
  parallel(context, 10, kParallelWork - 1, [&](int64_t item, int64_t worker) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(worker, 0);
    EXPECT_EQ(item, next++);
  });
  EXPECT_EQ(next, 10);
}

TEST(Parallel, RangesCoverAllElementsInWholeGrains) {
  const auto pool = pool_of(3);
  KernelContext context(nullptr, pool.get());
  for (const int64_t count : {int64_t{0}, int64_t{1}, kGrain, 7 * kGrain + 5, 100 * kGrain}) {
    SCOPED_TRACE(count);
    std::atomic<int64_t> covered{0};
    parallel_ranges(context, count, kGrain, kParallelWork, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(begin % kGrain, 0);
      EXPECT_TRUE(end == count || end % kGrain == 0);
      covered += end - begin;
    });
    EXPECT_EQ(covered, count);
  }
}

}  // namespace
}  // namespace vitrine
