#include "runtime/platform/memory.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "test/support/scratch_folder.h"

namespace vitrine::platform {
namespace {

TEST(MemoryTest, AvailableMemoryIsLessThanPhysicalMemory) {
  const uint64_t physical = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                            static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_GT(available_memory(), 0u);
  EXPECT_LT(available_memory(), physical);
}

TEST(MemoryTest, AvailableMemoryIsTheSmallestLimit) {
  const test::ScratchFolder folder;
  const auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder / path).parent_path());
    std::ofstream(folder / path) << text;
  };
  const std::string root = folder / "";
  EXPECT_EQ(read_available_memory(root.c_str()), UINT64_MAX);
  write("proc/meminfo",
        "MemTotal:       16318456 kB\nMemFree:          100000 kB\nMemAvailable:    8000000 kB\n");
  EXPECT_EQ(read_available_memory(root.c_str()), uint64_t{8'000'000} * 1024);
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "3000000\n");
  EXPECT_EQ(read_available_memory(root.c_str()), 3'000'000u);
  write("sys/fs/cgroup/job/memory.current", "2500000\n");
  EXPECT_EQ(read_available_memory(root.c_str()), 500'000u);
  write("proc/meminfo", "MemAvailable: 100 kB\n");
  EXPECT_EQ(read_available_memory(root.c_str()), 102'400u);
}

TEST(MemoryTest, FillHugePageAddsAtMostAQuarterOfAPage) {
  EXPECT_EQ(fill_huge_page(0), 0u);
  EXPECT_EQ(fill_huge_page(kHugePage / 4 * 3 - 1), kHugePage / 4 * 3 - 1);
  EXPECT_EQ(fill_huge_page(kHugePage / 4 * 3), kHugePage);
  EXPECT_EQ(fill_huge_page(kHugePage), kHugePage);
  EXPECT_EQ(fill_huge_page(kHugePage + 1), kHugePage + 1);
  EXPECT_EQ(fill_huge_page(4 * kHugePage - 1), 4 * kHugePage);
  EXPECT_EQ(fill_huge_page(SIZE_MAX), SIZE_MAX);
}

TEST(MemoryTest, BlocksOfNearlyAHugePageStartAtAHugePageBoundary) {
  const std::unique_ptr<void, decltype(&std::free)> block(
      allocate_aligned(64, kHugePage - kHugePage / 8), &std::free);
  ASSERT_TRUE(block);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % kHugePage, 0u);
}

TEST(MemoryTest, ProvidePagesKeepsTheContentOfUnalignedMemory) {
  constexpr size_t kSize = 100'000;
  const std::unique_ptr<void, decltype(&std::free)> block(allocate_aligned(64, kSize), &std::free);
  ASSERT_TRUE(block);
  auto* const bytes = static_cast<std::byte*>(block.get());
  for (size_t i = 0; i < kSize; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{5000}, kSize - 7}) {
    provide_pages({bytes + 7, size});
  }
  for (size_t i = 0; i < kSize; ++i) ASSERT_EQ(bytes[i], static_cast<std::byte>(i % 251)) << i;
}

}  // namespace
}  // namespace vitrine::platform
