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

// Threads that parallel() may use: scratch memory of a worker is taken once for each.
inline int64_t worker_count(const KernelContext& context) {
  return context.pool() == nullptr ? 1 : static_cast<int64_t>(context.pool()->threads());
}

// Arithmetic operations, or bytes moved, below which waking threads costs more than it saves.
inline constexpr int64_t kParallelWork = 200'000;
inline constexpr int64_t kWorkPerNs = 40;

// What a product of sizes costs; no more than can be counted.
inline int64_t work_of(std::initializer_list<int64_t> factors) {
  return checked_product(factors).value_or(INT64_MAX);
}

// Calls body(item, worker) for every item < items, in any order; worker < worker_count(context),
// and no two threads share one. `work` is the cost of all items: see kParallelWork. The body must
// not fail the context or allocate from it.
template <class Body>
void parallel(KernelContext& context, int64_t items, int64_t work, Body&& body) {
  const int64_t workers = std::min(worker_count(context), items);
  if (workers <= 1 || work < kParallelWork) {
    for (int64_t item = 0; item < items; ++item) body(item, int64_t{0});
    return;
  }
  struct Shared {
    Body& body;
    int64_t items;
    std::atomic<int64_t> next{0};
  } shared{body, items};
  // Items are handed out one at a time: cores may differ, or be busy elsewhere.
  context.pool()->run(
      static_cast<size_t>(workers),
      [](void* argument, size_t worker) {
        Shared& work_left = *static_cast<Shared*>(argument);
        while (true) {
          const int64_t item = work_left.next.fetch_add(1, std::memory_order_relaxed);
          if (item >= work_left.items) return;
          work_left.body(item, static_cast<int64_t>(worker));
        }
      },
      &shared, std::min(static_cast<uint64_t>(work / kWorkPerNs), ThreadPool::kMuchWork));
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
