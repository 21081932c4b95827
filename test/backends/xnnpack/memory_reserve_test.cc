#include "backends/xnnpack/runtime/memory_reserve.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace vitrine::xnnpack {
namespace {

TEST(MemoryReserve, GivesTheSmallestBlockThatIsLargeEnough) {
  MemoryReserve reserve(SIZE_MAX);
  for (const size_t bytes : {1000, 8, 100, 8}) ASSERT_TRUE(reserve.add(bytes));
  // A larger one for any of the small requests would leave none for the largest.
  for (const size_t bytes : {100, 8, 1, 1000}) {
    void* const block = reserve.take(bytes);
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, bytes);  // a sanitizer knows where the memory ends
    std::free(block);
  }
  EXPECT_EQ(reserve.take(1), nullptr);
}

TEST(MemoryReserve, HasNothingLargerThanWasAdded) {
  MemoryReserve reserve(SIZE_MAX);
  EXPECT_EQ(reserve.take(1), nullptr);
  ASSERT_TRUE(reserve.add(64));
  EXPECT_EQ(reserve.take(65), nullptr);
}

}  // namespace
}  // namespace vitrine::xnnpack
