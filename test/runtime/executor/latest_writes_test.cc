#include "runtime/executor/latest_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace vitrine {
namespace {

// Compares the tree with a plain list of times, for up to 69 positions. The number of positions
// need not be a power of two.
TEST(LatestWritesTest, TreeMatchesAListOfWriteTimes) {
  std::mt19937 random(1);
  const auto below = [&](size_t bound) { return random() % bound; };
  for (size_t places = 1; places < 70; ++places) {
    std::vector<uint32_t> words(LatestWrites::kWordsPerPosition * places);
    LatestWrites writes(words);
    std::vector<uint32_t> times(places);
    for (uint32_t time = 1; time < 60; ++time) {
      size_t begin = below(places);
      size_t end = begin + 1 + below(places - begin);
      if (time % 8 != 0) {  // some queries follow each other without a write
        writes.write(begin, end, time);
        std::fill(times.begin() + static_cast<ptrdiff_t>(begin),
                  times.begin() + static_cast<ptrdiff_t>(end), time);
      }
      begin = below(places);
      end = begin + 1 + below(places - begin);
      ASSERT_EQ(writes.latest(begin, end),
                *std::max_element(times.begin() + static_cast<ptrdiff_t>(begin),
                                  times.begin() + static_cast<ptrdiff_t>(end)))
          << places << " positions, [" << begin << ", " << end << ") at " << time;
    }
  }
}

}  // namespace
}  // namespace vitrine
