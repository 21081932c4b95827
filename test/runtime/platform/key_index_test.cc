#include "runtime/platform/key_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vitrine {
namespace {

using testing::StartsWith;

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
