#include "api/hash_index.h"

#include <gtest/gtest.h>

#include "runtime/platform/file.h"

namespace vitrine {
namespace {

TEST(HashIndex, FindsManyItemsWithFewComparisons) {
  constexpr size_t kItems = 20'000;
  HashIndex index;
  size_t comparisons = 0;
  const auto find = [&](size_t item) {
    return index.find(platform::mix(7, item), [&](size_t each) {
      ++comparisons;
      return each == item;
    });
  };
  for (size_t i = 0; i < kItems; ++i) {
    ASSERT_EQ(find(i), HashIndex::kNone);
    ASSERT_TRUE(index.make_room().ok());
    index.add(platform::mix(7, i), i);
  }
  for (size_t i = kItems; i-- > 0;) ASSERT_EQ(find(i), i);
  EXPECT_LE(comparisons, kItems + kItems / 100);
  index.clear();
  EXPECT_EQ(find(0), HashIndex::kNone);
}

TEST(HashIndex, DistinguishesItemsWithTheSameHash) {
  HashIndex index;
  for (size_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(index.make_room().ok());
    index.add(i % 2, i);
  }
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(index.find(i % 2, [i](size_t each) { return each == i; }), i);
    EXPECT_EQ(index.find(1 - i % 2, [i](size_t each) { return each == i; }), HashIndex::kNone);
  }
}

}  // namespace
}  // namespace vitrine
