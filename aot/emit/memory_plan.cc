#include "aot/emit/memory_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "aot/graph/aot_error.h"
#include "runtime/core/checked_math.h"

namespace vitrine::aot {
namespace {

// The program format stores sizes as signed 64-bit integers.
constexpr uint64_t kMax = uint64_t{std::numeric_limits<int64_t>::max()};

uint64_t aligned(uint64_t bytes, uint64_t alignment) {
  if (bytes > kMax - alignment) throw AotError("a tensor is larger than 2^63 - 1 bytes");
  return (bytes + alignment - 1) & ~(alignment - 1);
}

uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t total = 0;
  if (add_overflows(a, b, &total) || total > kMax) {
    throw AotError("planned memory is larger than 2^63 - 1 bytes");
  }
  return total;
}

bool live_together(const Allocation& a, const Allocation& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Memory that several tensors may share. A bucket has the size of its first tensor, which is the
// largest. Offsets of tensors are relative to the start of the bucket.
struct Bucket {
  uint64_t bytes = 0;
  std::vector<Allocation*> held;
};

// Returns the highest end offset of the tensors in the bucket that are alive at the same time as
// `wanted`, or nullopt if there are none.
std::optional<uint64_t> occupied_end(const Bucket& bucket, const Allocation& wanted,
                                     uint64_t alignment) {
  std::optional<uint64_t> end;
  for (const Allocation* held : bucket.held) {
    if (!live_together(*held, wanted)) continue;
    end = std::max(end.value_or(0), held->offset + aligned(held->bytes, alignment));
  }
  return end;
}

// Sets wanted.offset to the offset in the bucket. Returns null if no bucket has room.
Bucket* find_room(std::vector<Bucket>& buckets, Allocation& wanted, uint64_t alignment) {
  wanted.offset = 0;
  for (Bucket& bucket : buckets) {
    if (!occupied_end(bucket, wanted, alignment)) return &bucket;
  }
  const uint64_t bytes = aligned(wanted.bytes, alignment);
  for (Bucket& bucket : buckets) {
    const uint64_t end = *occupied_end(bucket, wanted, alignment);
    if (end == 0 || end > bucket.bytes || bytes > bucket.bytes - end) continue;
    wanted.offset = end;
    return &bucket;
  }
  return nullptr;
}

// Returns the indices of the allocations, largest first. Ties: the higher index comes first.
std::vector<size_t> by_size(std::span<const Allocation> allocations, uint64_t alignment) {
  std::vector<size_t> order(allocations.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](size_t i) { return aligned(allocations[i].bytes, alignment); });
  return order;
}

}  // namespace

uint64_t plan_greedy(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment) {
  std::vector<Bucket> buckets;
  for (const size_t i : by_size(allocations, alignment)) {
    Allocation& wanted = allocations[i];
    Bucket* chosen = find_room(buckets, wanted, alignment);
    if (chosen == nullptr) {
      chosen = &buckets.emplace_back(Bucket{aligned(wanted.bytes, alignment), {}});
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

uint64_t plan_tight(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment) {
  std::vector<const Allocation*> placed;  // sorted by offset
  uint64_t end = begin;
  for (const size_t i : by_size(allocations, alignment)) {
    Allocation& wanted = allocations[i];
    const uint64_t bytes = aligned(wanted.bytes, alignment);
    wanted.offset = begin;
    for (const Allocation* other : placed) {
      if (!live_together(*other, wanted)) continue;
      if (other->offset >= sum(wanted.offset, bytes)) break;
      wanted.offset = std::max(wanted.offset, sum(other->offset, aligned(other->bytes, alignment)));
    }
    end = std::max(end, sum(wanted.offset, bytes));
    placed.insert(std::ranges::upper_bound(placed, wanted.offset, {}, &Allocation::offset),
                  &wanted);
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
