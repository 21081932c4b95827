#include "runtime/core/sliding_window.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

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

}  // namespace
}  // namespace vitrine
