#include "backends/xnnpack/runtime/execution/memory_reserve.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace vitrine::xnnpack {
namespace {

TEST(MemoryReserve, ReturnsTheSmallestBlockThatIsLargeEnough) {
  MemoryReserve reserve(SIZE_MAX);
  for (const size_t bytes : {1000, 8, 100, 8}) ASSERT_TRUE(reserve.add(bytes));
  // If a small request took a large block, no block would be left for the largest request.
  for (const size_t bytes : {100, 8, 1, 1000}) {
    void* const block = reserve.take(bytes);
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, bytes);  // sanitizers detect an overflow
    std::free(block);
  }
  EXPECT_EQ(reserve.take(1), nullptr);
}

TEST(MemoryReserve, ReturnsNullForRequestsLargerThanEveryBlock) {
  MemoryReserve reserve(SIZE_MAX);
  EXPECT_EQ(reserve.take(1), nullptr);
  ASSERT_TRUE(reserve.add(64));
  EXPECT_EQ(reserve.take(65), nullptr);
}

}  // namespace
}  // namespace vitrine::xnnpack
