#include "runtime/platform/memory.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "test/support/program_builder.h"
#include "test/support/temporary_file.h"

namespace vitrine::platform {
namespace {

uint64_t limit_in(const std::string& text) {
  return memory_limit(test::TemporaryFile(test::bytes_of(text)).path());
}

TEST(MemoryTest, AContainersLimitIsANumberOrNone) {
  EXPECT_EQ(limit_in("536870912\n"), uint64_t{512} << 20);
  EXPECT_EQ(limit_in("9223372036854771712\n"), 9223372036854771712u);
  EXPECT_EQ(limit_in("12"), 12u);
  for (const char* none : {"max\n", "", "0\n", "-1\n"}) EXPECT_EQ(limit_in(none), UINT64_MAX);
  EXPECT_EQ(memory_limit("/nowhere/memory.max"), UINT64_MAX);
}

TEST(MemoryTest, OfTheMachineIsTheLeastOfBoth) {
  uint64_t expected = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  std::ifstream file("/sys/fs/cgroup/memory.max");
  if (uint64_t limit = 0; file >> limit) expected = std::min(expected, limit);
  EXPECT_EQ(machine_memory(), expected);
}

}  // namespace
}  // namespace vitrine::platform
