#include "test/corruption/guarded_memory.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace vitrine::test {
namespace {

// The pointer is volatile, so that the compiler keeps the access.
void write_at(std::byte* to) { *static_cast<volatile std::byte*>(to) = std::byte{1}; }

void write_at_offset(size_t bytes, size_t slack, ptrdiff_t offset) {
  GuardedMemory memory(bytes, slack);
  write_at(memory.data() + offset);
}

TEST(GuardedMemoryTest, AllBytesAreWritable) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{16}, size_t{100}, size_t{4096}}) {
    for (const size_t slack : {size_t{0}, size_t{16}}) {
      GuardedMemory memory(bytes, slack);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 16, 0u);
      for (size_t i = 0; i < bytes + slack; ++i) write_at(memory.data() + i);
    }
  }
}

// Expects the message of GuardedMemory or that of AddressSanitizer.
TEST(GuardedMemoryDeathTest, DetectsWritesJustOutsideTheMemory) {
  constexpr const char* kBefore = "write before guarded memory|use-after-poison";
  EXPECT_DEATH(write_at_offset(100, 0, -1), kBefore);
  EXPECT_DEATH(write_at_offset(100, 0, -1000), kBefore);
  EXPECT_DEATH(write_at_offset(100, 16, -1), kBefore);
  constexpr const char* kBehind = "write behind guarded memory|use-after-poison";
  EXPECT_DEATH(write_at_offset(100, 0, 100), kBehind);
  EXPECT_DEATH(write_at_offset(84, 16, 100), kBehind);
}

TEST(GuardedMemoryDeathTest, IsBetweenUnreadablePages) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto read_at = [&](ptrdiff_t offset) {
    GuardedMemory memory(page, 0);
    // Maps a readable page next to the memory. Without the guard page, an access outside the memory
    // would reach this page.
    void* const neighbor =
        ::mmap(memory.data() - page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static_cast<void>(*static_cast<volatile std::byte*>(memory.data() + offset));
    ::munmap(neighbor, page);
  };
  read_at(0);
  EXPECT_DEATH(read_at(-1), "");
  EXPECT_DEATH(read_at(static_cast<ptrdiff_t>(page)), "");
}

}  // namespace
}  // namespace vitrine::test
