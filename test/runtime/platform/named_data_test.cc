#include "vitrine/named_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/platform/key_index.h"
#include "test/support/program_builder.h"

namespace vitrine {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A map from keys to bytes. A key without bytes exists, but cannot be read. Every layout has the
// given dtype.
class FakeMap final : public NamedDataMap {
 public:
  using Entries = std::map<std::string, test::Bytes, std::less<>>;

  // If `asked` is not null, it counts the lookups of keys.
  FakeMap(Entries entries, ScalarType dtype, size_t* asked = nullptr)
      : entries_(std::move(entries)), dtype_(dtype), asked_(asked) {}
  size_t size() const override { return entries_.size(); }
  std::string_view key(size_t index) const override {
    if (index >= size()) return {};
    return std::next(entries_.begin(), static_cast<ptrdiff_t>(index))->first;
  }
  Result<DataBuffer> get(std::string_view key) const override {
    count();
    const auto found = entries_.find(key);
    if (found == entries_.end()) return Error::make(ErrorCode::kNotFound, "not here");
    if (found->second.empty()) return Error::make(ErrorCode::kAccessFailed, "cannot be read");
    return DataBuffer(found->second);
  }
  Result<std::optional<TensorLayout>> layout(std::string_view key) const override {
    count();
    if (!entries_.contains(key)) return Error::make(ErrorCode::kNotFound, "not here");
    return std::optional<TensorLayout>({dtype_, {}, {}});
  }
  void release(std::string_view /*key*/) const override { count(); }

 private:
  void count() const {
    if (asked_ != nullptr) ++*asked_;
  }

  Entries entries_;
  ScalarType dtype_;
  size_t* asked_;
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

TEST_F(MergedNamedDataTest, SearchesTheFirstMapBeforeTheSecond) {
  const MergedNamedData merged(&first_, &second_);
  EXPECT_EQ(text_of(merged.get("a")), "first a");
  EXPECT_EQ(text_of(merged.get("b")), "second b");
  EXPECT_EQ((*merged.layout("a"))->dtype, ScalarType::kFloat);
  EXPECT_EQ((*merged.layout("b"))->dtype, ScalarType::kInt);
  EXPECT_EQ(merged.get("broken").error().code(), ErrorCode::kAccessFailed);
  // The list has the keys of both maps.
  ASSERT_EQ(merged.size(), 5u);
  EXPECT_EQ(merged.key(0), "a");
  EXPECT_EQ(merged.key(3), "b");
  EXPECT_EQ(merged.key(5), "");
}

// A method that uses several data files merges their maps in the same way.
TEST_F(MergedNamedDataTest, EachNestedMapIsSearchedOnce) {
  constexpr size_t kMaps = 20;
  const FakeMap::Entries none;
  std::vector<std::unique_ptr<const NamedDataMap>> maps;
  size_t asked = 0;
  const NamedDataMap* all = nullptr;
  for (size_t i = 0; i < kMaps; ++i) {
    maps.push_back(std::make_unique<FakeMap>(
        i == 0 ? FakeMap::Entries{{"a", test::bytes_of("first a")}} : none, ScalarType::kFloat,
        &asked));
    const NamedDataMap* added = maps.back().get();
    if (all != nullptr) {
      maps.push_back(std::make_unique<MergedNamedData>(all, added));
      added = maps.back().get();
    }
    all = added;
  }
  const auto cost = [&asked](auto&& look_up) {
    asked = 0;
    look_up();
    return asked;
  };
  EXPECT_EQ(cost([&] { EXPECT_EQ(text_of(all->get("a")), "first a"); }), 1u);
  EXPECT_EQ(cost([&] { EXPECT_TRUE(all->layout("a").ok()); }), 1u);
  EXPECT_EQ(cost([&] { EXPECT_FALSE(all->get("none").ok()); }), kMaps);
  EXPECT_EQ(cost([&] { EXPECT_FALSE(all->layout("none").ok()); }), kMaps);
  EXPECT_LE(cost([&] { all->release("a"); }), kMaps);
}

TEST_F(MergedNamedDataTest, EitherMapMayBeNull) {
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

// Counts how often keys are read.
class CountingMap final : public NamedDataMap {
 public:
  explicit CountingMap(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  size_t size() const override { return keys_.size(); }
  std::string_view key(size_t index) const override {
    ++looks;
    return keys_[index];
  }
  Result<DataBuffer> get(std::string_view) const override { return DataBuffer(); }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional<TensorLayout>();
  }
  mutable uint64_t looks = 0;

 private:
  std::vector<std::string> keys_;
};

std::vector<std::string> numbered(size_t count) {
  std::vector<std::string> keys;
  // The keys are not sorted.
  for (size_t i = 0; i < count; ++i) keys.push_back("layer." + std::to_string(i * 7919 % count));
  return keys;
}

TEST(KeyIndexTest, FindsEachKeyAndTheFirstDuplicate) {
  const CountingMap map({"b", "a", "", "b", "a.b", "a"});
  KeyIndex index;
  Budget steps;
  ASSERT_TRUE(index.build(map, steps).ok());
  EXPECT_EQ(index.find("b"), 0u);
  EXPECT_EQ(index.find("a"), 1u);
  EXPECT_EQ(index.find(""), 2u);
  EXPECT_EQ(index.find("a.b"), 4u);
  for (const char* unknown : {"a.", "c", "B", "bb"}) {
    EXPECT_EQ(index.find(unknown), KeyIndex::kNotFound) << unknown;
  }
}

TEST(KeyIndexTest, FindsNothingInAnEmptyMap) {
  const CountingMap map({});
  KeyIndex index;
  EXPECT_EQ(index.find("a"), KeyIndex::kNotFound) << "before it is built";
  Budget steps;
  ASSERT_TRUE(index.build(map, steps).ok());
  EXPECT_EQ(index.find("a"), KeyIndex::kNotFound);
}

// Returns how often keys are read if every key of a file is looked up, as during a load.
uint64_t looks_for(size_t count) {
  const CountingMap map(numbered(count));
  KeyIndex index;
  Budget steps;
  EXPECT_TRUE(index.build(map, steps).ok());
  EXPECT_EQ(steps.used(), count);
  for (const std::string& key : numbered(count)) EXPECT_NE(index.find(key), KeyIndex::kNotFound);
  return map.looks;
}

TEST(KeyIndexTest, LookupsGrowAlmostLinearlyWithKeys) {
  EXPECT_LE(looks_for(16384), 5 * looks_for(4096));
}

TEST(KeyIndexTest, LongKeysUseMoreSteps) {
  const CountingMap map(std::vector<std::string>(100, std::string(64000, 'x')));
  KeyIndex index;
  Budget steps(64000 + 100);
  const Error error = index.build(map, steps);
  EXPECT_EQ(error.code(), ErrorCode::kOutOfResources);
  EXPECT_THAT(error.message(),
              StartsWith("named_data[64]: the file has more items to check than bytes (64100)"));
}

}  // namespace
}  // namespace vitrine
