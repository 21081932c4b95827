#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "runtime/core/checked_math.h"
#include "vitrine/kernel_context.h"
#include "vitrine/thread_pool.h"

namespace vitrine {

inline constexpr int64_t kMaxWorkers = 64;

// A loop with less work than kParallelWork runs only on the calling thread. A unit of work is an
// arithmetic operation, or a byte that is read or written.
inline constexpr int64_t kWorkPerNs = 20;  // a rough speed of one thread
inline constexpr int64_t kParallelWork = kWorkPerNs * int64_t{ThreadPool::kMinWorkNs};

// Maximum number of threads that parallel() uses for this amount of work. A kernel needs scratch
// memory for each thread.
inline int64_t worker_count(const KernelContext& context, int64_t work = INT64_MAX) {
  if (work < kParallelWork || context.pool() == nullptr) return 1;
  return std::min(static_cast<int64_t>(context.pool()->threads()), kMaxWorkers);
}

// Product of the factors, or INT64_MAX on overflow.
inline int64_t work_of(std::initializer_list<int64_t> factors) {
  return checked_product(factors).value_or(INT64_MAX);
}

using Item = void (*)(const void* body, int64_t item, int64_t worker);
using Range = void (*)(const void* body, int64_t begin, int64_t end);
void run_items(KernelContext& context, int64_t items, int64_t work, Item run, const void* body);
void run_ranges(KernelContext& context, int64_t count, int64_t grain, int64_t work_each, Range run,
                const void* body);

// Calls body(item, worker) for every item < items, in any order. `worker` < worker_count(context)
// is the index of the thread. `work` is the total cost of all items, in the unit of kParallelWork.
// The body must not fail the context or allocate from it.
//
// Each worker starts with its own share of the items, and then takes items from other workers. The
// shares depend only on the numbers of items and workers, so consecutive kernels often give a
// worker the part of the data that is still in the cache of its core.
template <class Body>
void parallel(KernelContext& context, int64_t items, int64_t work, const Body& body) {
  run_items(
      context, items, work,
      [](const void* erased, int64_t item, int64_t worker) {
        (*static_cast<const Body*>(erased))(item, worker);
      },
      &body);
}

// The usual `grain` of element-wise loops.
inline constexpr int64_t kGrain = 4096;

// Divides [0, count) into ranges and calls body(begin, end) for each range. All lengths except the
// last are multiples of `grain`. `work_each` is the cost of one index.
template <class Body>
void parallel_ranges(KernelContext& context, int64_t count, int64_t grain, int64_t work_each,
                     const Body& body) {
  run_ranges(
      context, count, grain, work_each,
      [](const void* erased, int64_t begin, int64_t end) {
        (*static_cast<const Body*>(erased))(begin, end);
      },
      &body);
}

}  // namespace vitrine
