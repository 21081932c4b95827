#include "vitrine/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

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
  const Error error = registry.add(&again);
  EXPECT_EQ(error.code(), ErrorCode::kRegistrationAlreadyRegistered);
  EXPECT_THAT(error.message(), HasSubstr("One"));
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

}  // namespace
}  // namespace vitrine
