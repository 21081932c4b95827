#include "vitrine/kernel_registry.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

constexpr Kernel kSlowAdd{"aten::add.out", nullptr, 5};
constexpr Kernel kSlowMul{"aten::mul.out", nullptr, 4};
constexpr Kernel kFastAdd{"aten::add.out", nullptr, 5};
constexpr const Kernel* kSlow[] = {&kSlowAdd, &kSlowMul};
constexpr const Kernel* kFast[] = {&kFastAdd};

TEST(KernelRegistry, EarlierTablesOverrideLaterOnes) {
  KernelRegistry registry;
  ASSERT_TRUE(registry.add("fast", kFast).ok());
  ASSERT_TRUE(registry.add("slow", kSlow).ok());
  EXPECT_EQ(registry.find("aten::add.out").kernel, &kFastAdd);
  EXPECT_STREQ(registry.find("aten::add.out").table, "fast");
  EXPECT_EQ(registry.find("aten::mul.out").kernel, &kSlowMul);
  EXPECT_STREQ(registry.find("aten::mul.out").table, "slow");
}

TEST(KernelRegistry, FindsOnlyCompleteNames) {
  KernelRegistry registry;
  ASSERT_TRUE(registry.add("slow", kSlow).ok());
  for (const char* name : {"", "aten::add", "aten::add.out2", "add.out"}) {
    EXPECT_EQ(registry.find(name).kernel, nullptr) << name;
  }
}

TEST(KernelRegistry, ReportsWhenItIsFull) {
  KernelRegistry registry;
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(registry.add("t", kSlow).ok());
  const Error error = registry.add("one_more", kSlow);
  EXPECT_EQ(error.code(), ErrorCode::kOutOfResources);
  EXPECT_STREQ(error.message(),
               "cannot register kernel table one_more: at most 16 tables are supported");
}

}  // namespace
}  // namespace vitrine
