// Tests of memory planning: examples, and properties of random plans.
#include "aot/emit/memory_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

constexpr uint64_t kAlignment = 16;

TEST(MemoryPlanTest, DisjointLifetimesShareMemory) {
  std::vector<Allocation> tensors = {{64, 0, 1, 0}, {64, 2, 3, 0}, {32, 4, 5, 0}};
  EXPECT_EQ(plan_greedy(tensors, 0, kAlignment), 64U);
  for (const Allocation& tensor : tensors) EXPECT_EQ(tensor.offset, 0U);
  EXPECT_EQ(plan_naive(tensors, 0, kAlignment), 160U);
}

TEST(MemoryPlanTest, InputsAndResultsOfANodeDoNotShareMemory) {
  std::vector<Allocation> tensors = {{16, 0, 1, 0}, {16, 1, 2, 0}};
  EXPECT_EQ(plan_greedy(tensors, 0, kAlignment), 32U);
  EXPECT_NE(tensors[0].offset, tensors[1].offset);
  // After the last use of a large tensor, two small tensors fit side by side into its bucket.
  std::vector<Allocation> small = {{96, 0, 1, 0}, {32, 2, 4, 0}, {32, 3, 4, 0}};
  EXPECT_EQ(plan_greedy(small, 0, kAlignment), 96U);
}

// The large tensor reuses the memory of two small tensors after their last use. In the greedy plan,
// the small tensors have separate buckets.
TEST(MemoryPlanTest, TightPlanReusesMemoryOfTwoSmallTensorsForALargeTensor) {
  std::vector<Allocation> greedy = {{64, 0, 1, 0}, {64, 0, 1, 0}, {112, 2, 3, 0}};
  std::vector<Allocation> tight = greedy;
  EXPECT_EQ(plan_greedy(greedy, 0, kAlignment), 176U);
  EXPECT_EQ(plan_tight(tight, 0, kAlignment), 128U);
}

TEST(MemoryPlanTest, StartsAtGivenOffset) {
  std::vector<Allocation> tensors = {{10, 0, 1, 0}, {10, 0, 1, 0}};
  EXPECT_EQ(plan_greedy(tensors, 256, kAlignment), 288U);
  EXPECT_EQ(plan_naive(tensors, 256, kAlignment), 288U);
  EXPECT_EQ(plan_greedy({}, 48, kAlignment), 48U);
}

TEST(MemoryPlanTest, RejectsSizesBeyondInt64) {
  std::vector<Allocation> one = {{UINT64_MAX, 0, 1, 0}};
  EXPECT_THROW(plan_greedy(one, 0, kAlignment), AotError);
  std::vector<Allocation> several(3, {uint64_t{1} << 62, 0, 1, 0});
  EXPECT_THROW(plan_greedy(several, 0, kAlignment), AotError);
  EXPECT_THROW(plan_tight(one, 0, kAlignment), AotError);
  EXPECT_THROW(plan_tight(several, 0, kAlignment), AotError);
  EXPECT_THROW(plan_naive(several, 0, kAlignment), AotError);
}

TEST(MemoryPlanTest, OverlappingLifetimesNeverShareMemory) {
  std::mt19937 generator(7);
  const auto number = [&](size_t below) { return generator() % below; };
  for (int round = 0; round < 300; ++round) {
    std::vector<Allocation> tensors;
    for (size_t i = 0; i < 2 + number(40); ++i) {
      const size_t first = number(60);
      tensors.push_back({number(1000), first, first + number(20), 0});
    }
    std::vector<Allocation> naive = tensors;
    const uint64_t begin = kAlignment * number(4);
    const uint64_t alignment = uint64_t{16} << number(3);
    const uint64_t aligned_begin = (begin + alignment - 1) / alignment * alignment;
    const auto algorithm = round % 2 == 0 ? plan_greedy : plan_tight;
    const uint64_t end = algorithm(tensors, aligned_begin, alignment);
    EXPECT_LE(end, plan_naive(naive, aligned_begin, alignment));
    for (const Allocation& a : tensors) {
      EXPECT_EQ(a.offset % alignment, 0U);
      EXPECT_GE(a.offset, aligned_begin);
      EXPECT_LE(a.offset + a.bytes, end);
      for (const Allocation& b : tensors) {
        const bool live_together = a.first <= b.last && b.first <= a.last;
        const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
        EXPECT_FALSE(&a != &b && live_together && overlap);
      }
    }
  }
}

}  // namespace
}  // namespace vitrine::aot
