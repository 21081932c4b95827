#include "vitrine/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "test/support/results.h"
#include "vitrine/kernel_registry.h"

namespace vitrine {
namespace {

using testing::HasSubstr;

class NamedBackend final : public BackendInterface {
 public:
  explicit NamedBackend(std::string id) : id_(std::move(id)) {}
  const char* id() const override { return id_.c_str(); }
  Result<std::unique_ptr<Delegate>> init(const BackendInitContext&, std::span<const std::byte>,
                                         std::span<const CompileSpec>) const override {
    return Error::make(ErrorCode::kNotImplemented, "no delegates here");
  }

 private:
  std::string id_;
};

TEST(BackendRegistry, FindsByExactId) {
  const NamedBackend one("One");
  const NamedBackend two("OneTwo");
  BackendRegistry registry;
  ASSERT_TRUE(registry.add(&one).ok());
  ASSERT_TRUE(registry.add(&two).ok());
  EXPECT_EQ(registry.find("One"), &one);
  EXPECT_EQ(registry.find("OneTwo"), &two);
  EXPECT_EQ(registry.find("Two"), nullptr);
  EXPECT_EQ(registry.find(std::string_view("One\0x", 5)), nullptr);
}

TEST(BackendRegistry, RejectsADuplicateId) {
  const NamedBackend one("One");
  const NamedBackend again("One");
  BackendRegistry registry;
  ASSERT_TRUE(registry.add(&one).ok());
  EXPECT_THAT(registry.add(&again),
              test::FailsWith(ErrorCode::kRegistrationAlreadyRegistered, HasSubstr("One")));
  EXPECT_EQ(registry.find("One"), &one);
}

TEST(BackendRegistry, ReportsWhenItIsFull) {
  std::deque<NamedBackend> backends;
  BackendRegistry registry;
  for (int i = 0; i < 16; ++i) {
    backends.emplace_back("b" + std::to_string(i));
    ASSERT_TRUE(registry.add(&backends.back()).ok());
  }
  const NamedBackend more("more");
  EXPECT_EQ(registry.add(&more).code(), ErrorCode::kOutOfResources);
}

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
  EXPECT_THAT(registry.add("one_more", kSlow),
              test::FailsWith(ErrorCode::kOutOfResources,
                              "cannot register kernel table one_more: "
                              "at most 16 tables are supported"));
}

}  // namespace
}  // namespace vitrine
