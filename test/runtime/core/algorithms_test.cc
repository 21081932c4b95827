#include "runtime/core/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "runtime/core/checked_math.h"
#include "runtime/core/sliding_window.h"

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

// Counts windows one by one. The first window begins at the start of the padding. Each later window
// begins one stride after the previous one.
int64_t counted(const SlidingWindow& window, int64_t size, bool ceil_mode) {
  const int64_t before = window.padding / 2;
  int64_t count = 0;
  for (int64_t begin = -before;; begin += window.stride) {
    const int64_t end = begin + (window.kernel - 1) * window.dilation + 1;
    const int64_t room = size + window.padding - before + (ceil_mode ? window.stride - 1 : 0);
    if (end > room || (ceil_mode && begin >= size)) return count;
    ++count;
  }
}

TEST(SlidingWindow, WindowCountMatchesBruteForceSearch) {
  int64_t cases = 0;
  for (int64_t size = 0; size < 9; ++size) {
    for (int64_t kernel = 1; kernel < 4; ++kernel) {
      for (int64_t stride = 1; stride < 4; ++stride) {
        for (int64_t dilation = 1; dilation < 3; ++dilation) {
          for (int64_t padding = 0; padding <= kernel; padding += 2) {
            for (const bool ceil_mode : {false, true}) {
              const SlidingWindow window{kernel, stride, dilation, padding};
              EXPECT_EQ(window_count(window, size, ceil_mode), counted(window, size, ceil_mode))
                  << size << " " << kernel << " " << stride << " " << dilation << " " << padding
                  << " " << ceil_mode;
              ++cases;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(cases, 500);
}

// The result of a transposed convolution has one window per input element.
TEST(SlidingWindow, TransposedSizeInvertsWindowCount) {
  for (int64_t size = 1; size < 6; ++size) {
    for (int64_t kernel = 1; kernel < 4; ++kernel) {
      for (int64_t stride = 1; stride < 4; ++stride) {
        for (int64_t output_padding = 0; output_padding < stride; ++output_padding) {
          const SlidingWindow window{kernel, stride, 2, 0};
          const auto made = transposed_size(window, size, output_padding);
          ASSERT_TRUE(made);
          EXPECT_EQ(window_count(window, *made), size);
        }
      }
    }
  }
}

TEST(SlidingWindow, RejectsOverflow) {
  constexpr int64_t kMax = INT64_MAX;
  EXPECT_FALSE(window_reach({.kernel = kMax, .dilation = 2}));
  EXPECT_FALSE(window_reach({.kernel = 0}));
  EXPECT_FALSE(window_reach({.kernel = 1, .stride = 0}));
  EXPECT_FALSE(window_reach({.kernel = 1, .dilation = -1}));
  EXPECT_FALSE(window_count<int64_t>({.kernel = 3, .padding = kMax}, kMax));
  EXPECT_FALSE(window_count<int64_t>({.kernel = 1, .stride = kMax}, kMax, true));
  EXPECT_EQ(window_count<int64_t>({.kernel = kMax}, kMax), 1);
  EXPECT_EQ(window_count<int64_t>({.kernel = kMax}, 5), 0);
  EXPECT_FALSE(transposed_size<int64_t>({.kernel = 1, .stride = 3}, kMax / 2, 0));
  EXPECT_FALSE(transposed_size<int64_t>({.kernel = kMax}, 1, 1));
  EXPECT_FALSE(transposed_size<int64_t>({.kernel = 1}, INT64_MIN, 0));
}

TEST(CheckedMath, AddAndMultiplyReportOverflow) {
  uint64_t sum = 0;
  EXPECT_FALSE(add_overflows(uint64_t{2}, uint64_t{3}, &sum));
  EXPECT_EQ(sum, 5u);
  EXPECT_TRUE(add_overflows(std::numeric_limits<uint64_t>::max(), uint64_t{1}, &sum));
  int64_t product = 0;
  EXPECT_FALSE(mul_overflows(int64_t{1} << 31, int32_t{4}, &product));
  EXPECT_EQ(product, int64_t{1} << 33);
  EXPECT_TRUE(mul_overflows(int64_t{1} << 62, int32_t{2}, &product));
}

TEST(CheckedMath, RejectsRangesThatAreOutOfBoundsOrWrapAround) {
  EXPECT_TRUE(range_fits(0, 10, 10));
  EXPECT_TRUE(range_fits(10, 0, 10));
  EXPECT_FALSE(range_fits(11, 0, 10));
  EXPECT_FALSE(range_fits(1, 10, 10));
  // The sum of the first two arguments wraps around to 1.
  EXPECT_FALSE(range_fits(2, std::numeric_limits<uint64_t>::max(), 10));
  EXPECT_FALSE(range_fits(std::numeric_limits<uint64_t>::max(), 2, 10));
}

TEST(CheckedMath, RoundUpReturnsMultiplesOfTheAlignment) {
  EXPECT_EQ(round_up(0, 16), 0u);
  EXPECT_EQ(round_up(1, 16), 16u);
  EXPECT_EQ(round_up(16, 16), 16u);
  EXPECT_EQ(round_up(17, 16), 32u);
}

}  // namespace
}  // namespace vitrine
