#include "aot/emit/memory_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "aot/graph/aot_error.h"
#include "runtime/core/checked_math.h"

namespace vitrine::aot {
namespace {

// The format counts in signed 64 bits.
constexpr uint64_t kMost = uint64_t{std::numeric_limits<int64_t>::max()};

uint64_t aligned(uint64_t bytes, uint64_t alignment) {
  if (bytes > kMost - alignment) throw AotError("a tensor is larger than memory can be");
  return (bytes + alignment - 1) & ~(alignment - 1);
}

uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t total = 0;
  if (add_overflows(a, b, &total) || total > kMost) {
    throw AotError("planned memory is larger than memory can be");
  }
  return total;
}

bool meet(const Allocation& a, const Allocation& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Memory as large as its first, largest tensor; offsets within it.
struct Bucket {
  uint64_t bytes = 0;
  std::vector<Allocation*> held;
};

// Behind the furthest tensor that lives at the same time: 0 if there is none.
uint64_t place_in(const Bucket& bucket, const Allocation& wanted, uint64_t alignment) {
  uint64_t end = 0;
  for (const Allocation* held : bucket.held) {
    if (meet(*held, wanted)) end = std::max(end, held->offset + aligned(held->bytes, alignment));
  }
  return end;
}

}  // namespace

uint64_t plan_greedy(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment) {
  // Of equal sizes the later comes first.
  std::vector<size_t> order(allocations.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](size_t i) { return aligned(allocations[i].bytes, alignment); });
  std::vector<Bucket> buckets;
  for (const size_t i : order) {
    Allocation& wanted = allocations[i];
    const uint64_t bytes = aligned(wanted.bytes, alignment);
    Bucket* chosen = nullptr;
    for (Bucket& bucket : buckets) {
      wanted.offset = place_in(bucket, wanted, alignment);
      if (wanted.offset != 0) continue;
      chosen = &bucket;
      break;
    }
    for (Bucket& bucket : buckets) {
      if (chosen != nullptr) break;
      wanted.offset = place_in(bucket, wanted, alignment);
      if (wanted.offset <= bucket.bytes && bytes <= bucket.bytes - wanted.offset) chosen = &bucket;
    }
    if (chosen == nullptr) {
      wanted.offset = 0;
      chosen = &buckets.emplace_back(Bucket{bytes, {}});
    }
    chosen->held.push_back(&wanted);
  }
  uint64_t end = begin;
  for (const Bucket& bucket : buckets) {
    for (Allocation* held : bucket.held) held->offset += end;
    end = sum(end, bucket.bytes);
  }
  return end;
}

uint64_t plan_naive(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment) {
  uint64_t end = begin;
  for (Allocation& wanted : allocations) {
    wanted.offset = end;
    end = sum(end, aligned(wanted.bytes, alignment));
  }
  return end;
}

}  // namespace vitrine::aot
