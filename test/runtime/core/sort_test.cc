#include "runtime/core/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace vitrine {
namespace {

struct Item {
  uint32_t key;
  char rest[9];
  bool operator<(const Item& other) const { return key < other.key; }
};

TEST(SortTest, SortsItemsOfAnySize) {
  uint32_t random = 1;
  for (const size_t count : {0, 1, 2, 3, 4, 7, 64, 1000}) {
    std::vector<Item> items(count);
    std::vector<uint32_t> keys;
    for (Item& item : items) {
      item.key = (random = random * 1664525 + 1013904223) >> 22;  // produces some equal keys
      keys.push_back(item.key);
      std::fill_n(item.rest, sizeof item.rest, static_cast<char>(item.key));
    }
    sort(std::span(items), std::less<>());
    std::ranges::sort(keys);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(items[i].key, keys[i]);
      EXPECT_EQ(items[i].rest[8], static_cast<char>(keys[i]));
    }
  }
}

// Sorting four times as many items takes at most five times as many comparisons, whatever the order
// of the items.
TEST(SortTest, ComparisonsGrowLessThanQuadratically) {
  const auto comparisons = [](size_t count, uint32_t factor) {
    std::vector<uint32_t> items;
    for (uint32_t i = 0; i < count; ++i) items.push_back(i * factor);
    uint64_t compared = 0;
    sort(std::span(items), [&compared](uint32_t a, uint32_t b) {
      ++compared;
      return a < b;
    });
    EXPECT_TRUE(std::ranges::is_sorted(items));
    return compared;
  };
  for (const uint32_t factor : {0u, 1u, ~0u, 2654435761u}) {
    EXPECT_LE(comparisons(16384, factor), 5 * comparisons(4096, factor) + 10);
  }
}

}  // namespace
}  // namespace vitrine
