#include "vitrine/memory_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace vitrine {
namespace {

bool is_aligned(const void* memory, size_t alignment) {
  return reinterpret_cast<uintptr_t>(memory) % alignment == 0;
}

TEST(AllocateArray, ValueInitializesElements) {
  HeapArena allocator(64);
  void* memory = allocator.allocate(64, 1);
  ASSERT_NE(memory, nullptr);
  std::memset(memory, 0xff, 64);
  allocator.reset();
  const std::span<int32_t> numbers = allocator.allocate_array<int32_t>(4);
  ASSERT_EQ(numbers.size(), 4u);
  for (const int32_t number : numbers) EXPECT_EQ(number, 0);
  EXPECT_TRUE(allocator.allocate_array<int32_t>(0).empty());
  EXPECT_TRUE(allocator.allocate_array<int64_t>(SIZE_MAX / 4).empty())
      << "the number of bytes overflows";
}

TEST(HeapArena, ReturnsDistinctAlignedMemory) {
  HeapArena arena(256);
  std::byte* last = nullptr;
  for (const size_t alignment : {1u, 8u, 64u, 256u, 4096u}) {
    auto* memory = static_cast<std::byte*>(arena.allocate(100, alignment));
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(is_aligned(memory, alignment));
    EXPECT_NE(memory, last);
    std::memset(memory, 0xab, 100);  // AddressSanitizer reports a block that is too small
    last = memory;
  }
}

TEST(HeapArena, StaysWithinTheBudget) {
  Budget budget(1000);
  HeapArena arena(16, &budget);
  EXPECT_EQ(arena.allocate(2000, 1), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX, 16), nullptr);
  EXPECT_NE(arena.allocate(500, 1), nullptr);
  EXPECT_EQ(arena.allocate(600, 1), nullptr);
  EXPECT_EQ(budget.used(), arena.reserved());
  EXPECT_LE(arena.reserved(), 1000u);
}

TEST(HeapArena, RefundsTheBudgetIfTheHeapIsExhausted) {
  Budget budget;  // unlimited, so only the heap can refuse
  HeapArena arena(16, &budget);
  ASSERT_NE(arena.allocate(10, 1), nullptr);
  const uint64_t used = budget.used();
  volatile size_t bytes = SIZE_MAX / 4;  // volatile: the compiler must not see the size
  EXPECT_EQ(arena.allocate(bytes, 1), nullptr);
  EXPECT_EQ(budget.used(), used);
  EXPECT_EQ(arena.reserved(), used);
}

TEST(HeapArena, AllocatesNothingIfTheBudgetIsTooSmall) {
  Budget budget(100);
  HeapArena arena(16, &budget);
  EXPECT_EQ(arena.allocate(101, 1), nullptr);
  EXPECT_EQ(arena.reserved(), 0u);
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_NE(arena.allocate(99, 1), nullptr) << "the whole budget is still available";
  EXPECT_EQ(budget.left(), 0u);
}

TEST(HeapArena, SmallRequestsFitIfTheChunkSizeExceedsTheBudget) {
  Budget budget(1000);
  HeapArena arena(16384, &budget);
  EXPECT_NE(arena.allocate(10, 1), nullptr);
  EXPECT_LE(arena.reserved(), 1000u);
}

TEST(HeapArena, ReportsWhetherItIsEmpty) {
  HeapArena arena(1024);
  EXPECT_TRUE(arena.empty());
  ASSERT_NE(arena.allocate(10, 1), nullptr);
  EXPECT_FALSE(arena.empty());
  arena.reset();
  EXPECT_TRUE(arena.empty());
}

TEST(HeapArena, ReusesTheChunkAfterReset) {
  HeapArena arena(1024);
  void* first = arena.allocate(100, 16);
  arena.reset();
  EXPECT_EQ(arena.allocate(100, 16), first);
}

TEST(HeapArena, RewindsToASavedMark) {
  HeapArena arena(1024);
  auto* const kept = static_cast<std::byte*>(arena.allocate(100, 1));
  std::memset(kept, 0xab, 100);
  const HeapArena::Mark mark = arena.mark();
  void* const first = arena.allocate(50, 1);
  arena.rewind(mark);
  EXPECT_EQ(arena.allocate(50, 1), first) << "rewind() must keep the chunk";
  arena.rewind(mark);
  // 5000 bytes need a new chunk. After each rewind, the same request must get the same memory.
  void* const large = arena.allocate(5000, 1);
  const size_t reserved = arena.reserved();
  for (int round = 0; round < 3; ++round) {
    arena.rewind(mark);
    EXPECT_EQ(arena.allocate(5000, 1), large);
    EXPECT_EQ(arena.reserved(), reserved);
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(kept[i], std::byte{0xab});
  EXPECT_FALSE(arena.empty());
}

// Each round makes several requests in nested scopes. After the first round, one chunk has room for
// all of them.
TEST(HeapArena, ReusesMemoryOfManyChunksAfterRewind) {
  Budget budget(100'000);
  HeapArena arena(64, &budget);
  ASSERT_NE(arena.allocate(50, 1), nullptr);
  size_t most = 0;
  for (int round = 0; round < 100; ++round) {
    const HeapArena::Mark outer = arena.mark();
    ASSERT_NE(arena.allocate(1000, 64), nullptr);
    ASSERT_NE(arena.allocate(2000, 64), nullptr);
    const HeapArena::Mark inner = arena.mark();
    ASSERT_NE(arena.allocate(3000, 64), nullptr);
    arena.rewind(inner);
    arena.rewind(outer);
    if (round == 0) most = arena.max_reserved();
    EXPECT_EQ(budget.used(), arena.reserved());
  }
  EXPECT_LE(arena.max_reserved(), most + 64) << "later rounds must reuse the memory of the first";
  arena.reset();
  EXPECT_TRUE(arena.empty());
  EXPECT_EQ(budget.used(), arena.reserved());
}

// In the first round, the two requests do not fit into one chunk. From the second round on, one
// larger chunk holds both.
TEST(HeapArena, StopsGrowingAfterTheFirstReset) {
  HeapArena arena(64);
  size_t reserved = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_NE(arena.allocate(1000, 64), nullptr);
    ASSERT_NE(arena.allocate(2000, 64), nullptr);
    if (round == 1) reserved = arena.reserved();
    if (round > 1) {
      EXPECT_EQ(arena.reserved(), reserved);
    }
    arena.reset();
    if (round > 0) {
      EXPECT_EQ(arena.reserved(), reserved) << "reset() must keep the memory: round " << round;
    }
  }
}

}  // namespace
}  // namespace vitrine
