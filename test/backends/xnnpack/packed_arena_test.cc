#include "backends/xnnpack/runtime/weights/packed_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vitrine/tensor.h"

namespace vitrine::xnnpack {
namespace {

TEST(PackedArena, BlocksAreAlignedAndFollowedByReadableBytes) {
  const auto arena = PackedArena::make(5000, 3);
  ASSERT_NE(arena, nullptr);
  auto* const first = static_cast<std::byte*>(arena->take(1));
  auto* const second = static_cast<std::byte*>(arena->take(4900));
  auto* const third = static_cast<std::byte*>(arena->take(99));
  ASSERT_NE(third, nullptr);
  EXPECT_GE(second, first + 1 + kReadableSlack);
  EXPECT_GE(third, second + 4900 + kReadableSlack);
  for (std::byte* const block : {first, second, third}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
  }
  std::memset(third, 1, 99 + kReadableSlack);  // sanitizers detect an overflow
  EXPECT_EQ(arena->take(100), nullptr);
}

TEST(PackedArena, ReusesOnlyTheLastBlock) {
  const auto arena = PackedArena::make(2000, 2);
  ASSERT_NE(arena, nullptr);
  void* const first = arena->take(1000);
  void* const second = arena->take(1000);
  ASSERT_NE(second, nullptr);
  arena->give_back(first);
  EXPECT_EQ(arena->take(1000), nullptr);
  arena->give_back(second);
  EXPECT_EQ(arena->take(1000), second);
}

TEST(PackedArena, ReturnsZeroedMemoryAlsoAfterGiveBack) {
  for (const size_t size : {size_t{1000}, size_t{3} << 20}) {
    const auto arena = PackedArena::make(size, 1);
    ASSERT_NE(arena, nullptr);
    for (int i = 0; i < 2; ++i) {
      auto* const block = static_cast<uint8_t*>(arena->take(size));
      ASSERT_NE(block, nullptr);
      EXPECT_TRUE(
          std::all_of(block, block + size + kReadableSlack, [](uint8_t b) { return b == 0; }));
      std::fill_n(block, size, uint8_t{7});
      arena->give_back(block);
    }
  }
}

TEST(PackedArena, RejectsSizesThatOverflow) {
  EXPECT_EQ(PackedArena::make(SIZE_MAX - 10, 1), nullptr);
  EXPECT_EQ(PackedArena::make(1, SIZE_MAX / 2), nullptr);
  const auto arena = PackedArena::make(64, 1);
  ASSERT_NE(arena, nullptr);
  EXPECT_EQ(arena->take(SIZE_MAX), nullptr);
}

}  // namespace
}  // namespace vitrine::xnnpack
