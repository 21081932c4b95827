#include "kernels/util/parallel.h"

#include <atomic>

namespace vitrine {

namespace {

// A worker's share of the items. The worker takes items from the front, and other workers from the
// back.
struct alignas(64) Share {
  std::atomic<int64_t> remaining;
  std::atomic<int64_t> end;
  int64_t next;

  bool take() { return remaining.fetch_sub(1, std::memory_order_relaxed) > 0; }
  int64_t take_last() { return end.fetch_sub(1, std::memory_order_relaxed) - 1; }
};

struct Region {
  Item run;
  const void* body;
  int64_t workers;
  Share shares[kMaxWorkers];

  void share_out(int64_t items) {
    int64_t end = 0;
    for (int64_t w = 0; w < workers; ++w) {
      Share& share = shares[w];
      const int64_t count = items / workers + (w < items % workers ? 1 : 0);
      share.next = end;
      end += count;
      share.remaining.store(count, std::memory_order_relaxed);
      share.end.store(end, std::memory_order_relaxed);
    }
  }

  void work(int64_t worker) {
    Share& own = shares[worker];
    while (own.take()) run(body, own.next++, worker);
    for (int64_t i = 1; i < workers; ++i) {
      Share& other = shares[(worker + i) % workers];
      while (other.take()) run(body, other.take_last(), worker);
    }
  }
};

}  // namespace

void run_items(KernelContext& context, int64_t items, int64_t work, Item run, const void* body) {
  const int64_t workers = std::min(worker_count(context, work), items);
  const uint64_t work_ns =
      std::min(static_cast<uint64_t>(work / kWorkPerNs), ThreadPool::kLargeWorkNs);
  if (workers <= 1 || !context.pool()->should_parallelize(work_ns)) {
    for (int64_t item = 0; item < items; ++item) run(body, item, 0);
    return;
  }
  Region region{run, body, workers, {}};
  region.share_out(items);
  context.pool()->run(
      static_cast<size_t>(workers),
      [](void* erased, size_t worker) {
        static_cast<Region*>(erased)->work(static_cast<int64_t>(worker));
      },
      &region);
}

void run_ranges(KernelContext& context, int64_t count, int64_t grain, int64_t work_each, Range run,
                const void* body) {
  if (count <= 0) return;
  const int64_t work = work_of({count, work_each});
  const int64_t workers = worker_count(context, work);
  if (workers == 1) {
    run(body, 0, count);
    return;
  }
  const int64_t grains = (count + grain - 1) / grain;
  const int64_t parts = std::min(grains, 4 * workers);  // lets faster cores take more parts
  parallel(context, parts, work, [&](int64_t part, int64_t) {
    const int64_t begin = grains * part / parts * grain;
    const int64_t end = std::min(count, grains * (part + 1) / parts * grain);
    if (begin < end) run(body, begin, end);
  });
}

}  // namespace vitrine
