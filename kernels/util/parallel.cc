#include "kernels/util/parallel.h"

#include <atomic>

namespace vitrine {

namespace {

// A worker's part of the items: it takes them from the front, others take from the back.
struct alignas(64) Share {
  std::atomic<int64_t> left;
  std::atomic<int64_t> end;
  int64_t next;

  bool take() { return left.fetch_sub(1, std::memory_order_relaxed) > 0; }
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
      share.left.store(count, std::memory_order_relaxed);
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
  const int64_t workers = std::min(worker_count(context), items);
  if (workers <= 1 || work < kParallelWork) {
    for (int64_t item = 0; item < items; ++item) run(body, item, 0);
    return;
  }
  Region region{run, body, workers, {}};
  region.share_out(items);
  context.pool()->run(
      static_cast<size_t>(workers),
      [](void* of, size_t worker) { static_cast<Region*>(of)->work(static_cast<int64_t>(worker)); },
      &region, std::min(static_cast<uint64_t>(work / kWorkPerNs), ThreadPool::kMuchWork));
}

void run_ranges(KernelContext& context, int64_t count, int64_t grain, int64_t work_each, Range run,
                const void* body) {
  if (count <= 0) return;
  const int64_t workers = worker_count(context);
  const int64_t grains = (count + grain - 1) / grain;
  const int64_t work = work_of({count, work_each});
  const int64_t parts = workers == 1 || work < kParallelWork
                            ? 1
                            : std::min(grains, 4 * workers);  // some slack for slower cores
  parallel(context, parts, work, [&](int64_t part, int64_t) {
    const int64_t begin = grains * part / parts * grain;
    const int64_t end = std::min(count, grains * (part + 1) / parts * grain);
    if (begin < end) run(body, begin, end);
  });
}

}  // namespace vitrine
