// Work in parallel on the method's thread pool.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>

#include "runtime/core/checked_math.h"
#include "vitrine/kernel_context.h"
#include "vitrine/thread_pool.h"

namespace vitrine::optimized {

inline constexpr int64_t kMaxWorkers = 64;

// Threads that parallel() may use: scratch memory of a worker is taken once for each.
inline int64_t worker_count(const KernelContext& context) {
  if (context.pool() == nullptr) return 1;
  return std::min(static_cast<int64_t>(context.pool()->threads()), kMaxWorkers);
}

// Arithmetic operations, or bytes read and written, below which waking threads costs more than it
// saves.
inline constexpr int64_t kParallelWork = 320'000;
inline constexpr int64_t kWorkPerNs = 40;

// What a product of sizes costs; no more than can be counted.
inline int64_t work_of(std::initializer_list<int64_t> factors) {
  return checked_product(factors).value_or(INT64_MAX);
}

// A worker's part of the items: it takes them from the front, others take from the back.
struct alignas(64) Share {
  std::atomic<int64_t> left;
  std::atomic<int64_t> end;
  int64_t next;

  bool take() { return left.fetch_sub(1, std::memory_order_relaxed) > 0; }
  int64_t take_last() { return end.fetch_sub(1, std::memory_order_relaxed) - 1; }
};

// Calls body(item, worker) for every item < items, in any order; worker < worker_count(context),
// and no two threads share one. `work` is the cost of all items: see kParallelWork. The body must
// not fail the context or allocate from it.
//
// A worker begins with the same part of the items each time, because what a kernel wrote is in the
// cache of the core that wrote it. Then it helps the others: cores may differ, or be busy.
template <class Body>
void parallel(KernelContext& context, int64_t items, int64_t work, Body&& body) {
  const int64_t workers = std::min(worker_count(context), items);
  if (workers <= 1 || work < kParallelWork) {
    for (int64_t item = 0; item < items; ++item) body(item, int64_t{0});
    return;
  }
  struct Region {
    Body& body;
    int64_t workers;
    Share shares[kMaxWorkers];
  } region{body, workers, {}};
  int64_t end = 0;
  for (int64_t w = 0; w < workers; ++w) {
    Share& share = region.shares[w];
    const int64_t count = items / workers + (w < items % workers ? 1 : 0);
    share.next = end;
    end += count;
    share.left.store(count, std::memory_order_relaxed);
    share.end.store(end, std::memory_order_relaxed);
  }
  context.pool()->run(
      static_cast<size_t>(workers),
      [](void* argument, size_t index) {
        Region& all = *static_cast<Region*>(argument);
        const auto worker = static_cast<int64_t>(index);
        Share& own = all.shares[worker];
        while (own.take()) all.body(own.next++, worker);
        for (int64_t i = 1; i < all.workers; ++i) {
          Share& other = all.shares[(worker + i) % all.workers];
          while (other.take()) all.body(other.take_last(), worker);
        }
      },
      &region, std::min(static_cast<uint64_t>(work / kWorkPerNs), ThreadPool::kMuchWork));
}

// A grain for elements that are computed one by one.
inline constexpr int64_t kGrain = 4096;

// Calls body(begin, end) for parts of [0, count), each a multiple of `grain` but the last.
// `work_each` is the cost of one of `count`.
template <class Body>
void parallel_ranges(KernelContext& context, int64_t count, int64_t grain, int64_t work_each,
                     Body&& body) {
  const int64_t workers = worker_count(context);
  const int64_t grains = (count + grain - 1) / grain;
  const int64_t work = work_of({std::max<int64_t>(count, 0), work_each});
  const int64_t parts = workers == 1 || work < kParallelWork
                            ? 1
                            : std::min(grains, 4 * workers);  // some slack for slower cores
  if (count <= 0) return;
  parallel(context, parts, work, [&](int64_t part, int64_t) {
    const int64_t begin = grains * part / parts * grain;
    const int64_t end = std::min(count, grains * (part + 1) / parts * grain);
    if (begin < end) body(begin, end);
  });
}

}  // namespace vitrine::optimized
