#include "vitrine/named_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "test/support/program_builder.h"

namespace vitrine {
namespace {

using testing::HasSubstr;

// Bytes by key. A key without bytes exists but cannot be read. Every layout has the given dtype.
class FakeMap final : public NamedDataMap {
 public:
  FakeMap(std::map<std::string, test::Bytes, std::less<>> entries, ScalarType dtype)
      : entries_(std::move(entries)), dtype_(dtype) {}
  size_t size() const override { return entries_.size(); }
  std::string_view key(size_t index) const override {
    if (index >= size()) return {};
    return std::next(entries_.begin(), static_cast<ptrdiff_t>(index))->first;
  }
  Result<DataBuffer> get(std::string_view key) const override {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return Error::make(ErrorCode::kNotFound, "not here");
    if (found->second.empty()) return Error::make(ErrorCode::kAccessFailed, "cannot be read");
    return DataBuffer(found->second);
  }
  Result<std::optional<TensorLayout>> layout(std::string_view key) const override {
    if (!entries_.contains(key)) return Error::make(ErrorCode::kNotFound, "not here");
    return std::optional<TensorLayout>({dtype_, {}, {}});
  }

 private:
  std::map<std::string, test::Bytes, std::less<>> entries_;
  ScalarType dtype_;
};

std::string text_of(const Result<DataBuffer>& data) {
  if (!data.ok()) return data.error().message();
  return {reinterpret_cast<const char*>(data->data()), data->size()};
}

class MergedNamedDataTest : public testing::Test {
 protected:
  FakeMap first_{{{"a", test::bytes_of("first a")}, {"broken", {}}}, ScalarType::kFloat};
  FakeMap second_{{{"a", test::bytes_of("second a")},
                   {"b", test::bytes_of("second b")},
                   {"broken", test::bytes_of("sound")}},
                  ScalarType::kInt};
};

TEST_F(MergedNamedDataTest, AsksTheFirstThenTheSecond) {
  const MergedNamedData merged(&first_, &second_);
  EXPECT_EQ(text_of(merged.get("a")), "first a");
  EXPECT_EQ(text_of(merged.get("b")), "second b");
  EXPECT_EQ((*merged.layout("a"))->dtype, ScalarType::kFloat);
  EXPECT_EQ((*merged.layout("b"))->dtype, ScalarType::kInt);
}

TEST_F(MergedNamedDataTest, ListsBoth) {
  const MergedNamedData merged(&first_, &second_);
  ASSERT_EQ(merged.size(), 5u);
  EXPECT_EQ(merged.key(0), "a");
  EXPECT_EQ(merged.key(3), "b");
  EXPECT_EQ(merged.key(5), "");
}

TEST_F(MergedNamedDataTest, DoesNotHideAFailureBehindTheSecond) {
  const MergedNamedData merged(&first_, &second_);
  EXPECT_EQ(merged.get("broken").error().code(), ErrorCode::kAccessFailed);
}

TEST_F(MergedNamedDataTest, EitherMayBeMissing) {
  EXPECT_EQ(text_of(MergedNamedData(nullptr, &second_).get("a")), "second a");
  EXPECT_EQ(text_of(MergedNamedData(&first_, nullptr).get("a")), "first a");
  EXPECT_EQ(MergedNamedData(&first_, nullptr).get("b").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(MergedNamedData(nullptr, &second_).key(1), "b");
  const MergedNamedData none(nullptr, nullptr);
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.key(0), "");
  EXPECT_THAT(none.get("x").error().message(), HasSubstr("x"));
  EXPECT_EQ(none.layout("x").error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace vitrine
