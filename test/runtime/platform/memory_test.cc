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

#include "runtime/platform/control_group.h"
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

TEST(MemoryTest, FillHugePageAddsAtMostAQuarterOfAHugePage) {
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

constexpr uint64_t kNoLimit = UINT64_MAX;

// A temporary folder that the functions under test read in place of the folder "/".
class FakeRoot {
 public:
  // `groups` is the content of /proc/self/cgroup.
  explicit FakeRoot(const std::string& groups) { write("proc/self/cgroup", groups); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  // Writes a file of a control group.
  void limit(const std::string& path, const std::string& text) {
    write("sys/fs/cgroup/" + path, text);
  }

  uint64_t memory() const { return control_group_memory(root_.c_str()); }
  uint64_t processors() const { return control_group_processors(root_.c_str()); }

 private:
  test::ScratchFolder folder_;
  std::filesystem::path root_ = folder_ / "root";
};

TEST(ControlGroup, ReportsNoLimitWithoutFiles) {
  EXPECT_EQ(control_group_memory("/nowhere"), kNoLimit);
  EXPECT_EQ(control_group_processors("/nowhere"), kNoLimit);
  const FakeRoot root("0::/a/b\n");
  EXPECT_EQ(root.memory(), kNoLimit);
  EXPECT_EQ(root.processors(), kNoLimit);
}

TEST(ControlGroup, ReadsTheRootGroupInsideAContainer) {
  FakeRoot root("0::/\n");
  root.limit("memory.max", "536870912\n");
  root.limit("cpu.max", "200000 100000\n");
  EXPECT_EQ(root.memory(), uint64_t{512} << 20);
  EXPECT_EQ(root.processors(), 2u);
}

TEST(ControlGroup, UsesTheSmallestLimitAlongThePath) {
  FakeRoot root("0::/user.slice/user-1000.slice/job.scope\n");
  root.limit("user.slice/memory.max", "3000\n");
  root.limit("user.slice/user-1000.slice/memory.max", "1000\n");
  root.limit("user.slice/user-1000.slice/job.scope/memory.max", "2000\n");
  root.limit("user.slice/cpu.max", "300000 100000\n");
  root.limit("user.slice/user-1000.slice/cpu.max", "max 100000\n");
  root.limit("user.slice/user-1000.slice/job.scope/cpu.max", "400000 100000\n");
  root.limit("system.slice/memory.max", "1\n");  // not on the path
  EXPECT_EQ(root.memory(), 1000u);
  EXPECT_EQ(root.processors(), 3u);
}

TEST(ControlGroup, ReadsVersion1Hierarchies) {
  FakeRoot root(
      "12:memory:/docker/abc\n"
      "4:cpu,cpuacct:/docker/abc\n"
      "1:name=systemd:/docker/abc\n"
      "0::/\n");
  root.limit("memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.limit("memory/docker/memory.limit_in_bytes", "4096\n");
  root.limit("memory/docker/abc/memory.limit_in_bytes", "8192\n");
  root.limit("cpu/docker/abc/cpu.cfs_quota_us", "150000\n");
  root.limit("cpu/docker/abc/cpu.cfs_period_us", "100000\n");
  root.limit("cpu/docker/cpu.cfs_quota_us", "-1\n");
  root.limit("cpu/docker/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(root.memory(), 4096u);
  EXPECT_EQ(root.processors(), 2u);
}

TEST(ControlGroup, ReadsTheRootGroupIfThePathExistsOnlyOnTheHost) {
  FakeRoot root("5:memory:/docker/abc\n3:cpu:/docker/abc\n");
  root.limit("memory/memory.limit_in_bytes", "4096\n");
  root.limit("cpu/cpu.cfs_quota_us", "100000\n");
  root.limit("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(root.memory(), 4096u);
  EXPECT_EQ(root.processors(), 1u);
}

TEST(ControlGroup, SubtractsUsedMemoryExceptCachedFilePages) {
  FakeRoot root("0::/a\n");
  root.limit("memory.max", "10000\n");
  root.limit("memory.current", "9000\n");
  EXPECT_EQ(root.memory(), 1000u);
  root.limit("memory.stat", "anon 5000\ninactive_file 1500\nactive_file 2500\nunevictable 1\n");
  EXPECT_EQ(root.memory(), 5000u);
  root.limit("a/memory.max", "6000\n");
  root.limit("a/memory.current", "2000\n");
  EXPECT_EQ(root.memory(), 4000u);
  root.limit("a/memory.current", "7000\n");  // more than the limit
  EXPECT_EQ(root.memory(), 0u);

  FakeRoot old("5:memory:/a\n");
  old.limit("memory/a/memory.limit_in_bytes", "4096\n");
  old.limit("memory/a/memory.usage_in_bytes", "3096\n");
  old.limit("memory/a/memory.stat", "inactive_file 7\ntotal_inactive_file 96\n");
  EXPECT_EQ(old.memory(), 1096u);
}

TEST(ControlGroup, IgnoresOtherControllersAndDamagedLines) {
  FakeRoot root("7:cpuset:/a\n6:memory_other:/a\nno colons\n\n5:memory\n4:memory:\n3:");
  root.limit("memory/a/memory.limit_in_bytes", "4096\n");
  root.limit("cpuset/a/cpu.cfs_quota_us", "1000\n");
  root.limit("cpuset/a/cpu.cfs_period_us", "1000\n");
  EXPECT_EQ(root.memory(), kNoLimit);
  EXPECT_EQ(root.processors(), kNoLimit);
}

TEST(ControlGroup, RoundsUpTheNumberOfProcessors) {
  FakeRoot root("0::/\n");
  const std::pair<const char*, uint64_t> cases[] = {
      {"1 100000\n", 1},
      {"99999 100000\n", 1},
      {"100000 100000\n", 1},
      {"100001 100000\n", 2},
      {"150000 100000\n", 2},
      {"250000 50000\n", 5},
      {"9223372036854775807 1\n", INT64_MAX},
  };
  for (const auto& [text, expected] : cases) {
    root.limit("cpu.max", text);
    EXPECT_EQ(root.processors(), expected) << text;
  }
}

TEST(ControlGroup, ValuesThatAreNotPositiveNumbersSetNoLimit) {
  FakeRoot root("0::/\n");
  for (const char* none : {"max\n", "", "0\n", "-1\n", "many\n"}) {
    root.limit("memory.max", none);
    EXPECT_EQ(root.memory(), kNoLimit) << none;
  }
  for (const char* none : {"max 100000\n", "", "0 100000\n", "100000\n", "100000 0\n"}) {
    root.limit("cpu.max", none);
    EXPECT_EQ(root.processors(), kNoLimit) << none;
  }
}

}  // namespace
}  // namespace vitrine::platform
