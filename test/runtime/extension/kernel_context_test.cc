#include "vitrine/kernel_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "runtime/core/checked_math.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"

namespace vitrine {
namespace {

using testing::HasSubstr;

TEST(KernelContext, KeepsTheFirstFailure) {
  HeapArena temp;
  KernelContext context(&temp);
  EXPECT_FALSE(context.failed());
  context.fail(ErrorCode::kInvalidArgument, "first %d", 1);
  context.fail(ErrorCode::kInternal, "second");
  EXPECT_TRUE(context.failed());
  EXPECT_THAT(context.take_error(), test::FailsWith(ErrorCode::kInvalidArgument, "first 1"));
  EXPECT_FALSE(context.failed());
  EXPECT_TRUE(context.take_error().ok());
}

TEST(KernelContext, FailsWhenAnOutputCannotBeResized) {
  test::TensorFactory factory;
  HeapArena temp;
  KernelContext context(&temp);
  Tensor& out = factory.make(ScalarType::kFloat, {2});
  EXPECT_TRUE(context.resize(out, std::array{2}));
  EXPECT_FALSE(context.resize(out, std::array{3}));
  EXPECT_EQ(context.take_error().code(), ErrorCode::kNotSupported);
}

TEST(KernelContext, ReturnsAlignedTemporaryMemoryOrFails) {
  Budget budget(4096);
  HeapArena temp(16, &budget);
  KernelContext context(&temp);
  const void* memory = context.allocate_temp(100);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  EXPECT_EQ(context.allocate_temp_array<float>(4).size(), 4u);
  EXPECT_FALSE(context.failed());
  EXPECT_EQ(context.allocate_temp(8000), nullptr);
  EXPECT_THAT(context.take_error(),
              test::FailsWith(ErrorCode::kMemoryAllocationFailed, HasSubstr("8000 bytes")));
  EXPECT_TRUE(context.allocate_temp_array<float>(SIZE_MAX / 4).empty());
  EXPECT_TRUE(context.failed());
}

TEST(KernelContext, RejectsOverflowingSizesOfTemporaryMemory) {
  Budget budget(4096);
  HeapArena temp(16, &budget);
  KernelContext context(&temp);
  EXPECT_NE(context.allocate_temp({10, 10, 4}), nullptr);
  EXPECT_NE(context.allocate_temp({10, 0, 4}), nullptr);
  EXPECT_FALSE(context.failed());
  constexpr int64_t kHalf = int64_t{1} << 31;  // kHalf * kHalf * 4 is 2^64
  for (const std::initializer_list<int64_t> factors :
       {std::initializer_list<int64_t>{kHalf, kHalf, 4},
        {-1, 4},
        {INT64_MAX, 2},
        {INT64_MAX},
        {static_cast<int64_t>(kMaxBytes) + 1}}) {
    EXPECT_EQ(context.allocate_temp(factors), nullptr);
    EXPECT_THAT(context.take_error(),
                test::FailsWith(ErrorCode::kMemoryAllocationFailed,
                                HasSubstr("the size of temporary memory overflows")));
  }
  // 2^32 bytes wrap around to 0 in a 32-bit size_t.
  EXPECT_EQ(context.allocate_temp({65536, 16384, 4}), nullptr);
}

}  // namespace
}  // namespace vitrine
