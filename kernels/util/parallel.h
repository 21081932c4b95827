// Work in parallel on the method's thread pool.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "runtime/core/checked_math.h"
#include "vitrine/kernel_context.h"
#include "vitrine/thread_pool.h"

namespace vitrine {

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

// What parallel() runs: a body, once in the program for all of its kinds.
using Item = void (*)(const void* body, int64_t item, int64_t worker);
using Range = void (*)(const void* body, int64_t begin, int64_t end);
void run_items(KernelContext& context, int64_t items, int64_t work, Item run, const void* body);
void run_ranges(KernelContext& context, int64_t count, int64_t grain, int64_t work_each, Range run,
                const void* body);

// Calls body(item, worker) for every item < items, in any order; worker < worker_count(context),
// and no two threads share one. `work` is the cost of all items: see kParallelWork. The body must
// not fail the context or allocate from it.
//
// A worker begins with the same part of the items each time, because what a kernel wrote is in the
// cache of the core that wrote it. Then it helps the others: cores may differ, or be busy.
template <class Body>
void parallel(KernelContext& context, int64_t items, int64_t work, const Body& body) {
  run_items(
      context, items, work,
      [](const void* of, int64_t item, int64_t worker) {
        (*static_cast<const Body*>(of))(item, worker);
      },
      &body);
}

// A grain for elements that are computed one by one.
inline constexpr int64_t kGrain = 4096;

// Calls body(begin, end) for parts of [0, count), each a multiple of `grain` but the last.
// `work_each` is the cost of one of `count`.
template <class Body>
void parallel_ranges(KernelContext& context, int64_t count, int64_t grain, int64_t work_each,
                     const Body& body) {
  run_ranges(
      context, count, grain, work_each,
      [](const void* of, int64_t begin, int64_t end) {
        (*static_cast<const Body*>(of))(begin, end);
      },
      &body);
}

}  // namespace vitrine
