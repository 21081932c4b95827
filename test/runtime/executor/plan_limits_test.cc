// Tests the search for overlaps in memory plans: its cost, and its results for random plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/executor/latest_writes.h"
#include "test/runtime/executor/method_fixture.h"

namespace vitrine {
namespace {

using testing::HasSubstr;

// Returns the smallest number for which `loads` returns true.
template <class Loads>
uint64_t least(const Loads& loads) {
  uint64_t few = 0;
  uint64_t enough = uint64_t{1} << 24;
  while (enough - few > 1) {
    const uint64_t middle = (few + enough) / 2;
    (loads(middle) ? enough : few) = middle;
  }
  return enough;
}

class PlanLimitsTest : public test::PlanTest {};
TEST_F(PlanLimitsTest, ReportsFailedAllocation) {
  const int32_t x = input(0);
  for (int i = 0; i < 200; ++i) scale(x, at(32));
  const auto program = build();
  MethodOptions bounded{.kernels = kernels_};
  bounded.limits.max_memory_bytes = least([&](uint64_t bytes) {
    bounded.limits.max_memory_bytes = bytes;
    return Method::load(program, "forward", bounded).ok();
  });
  bounded.check_plan = &refuse_overlaps;
  EXPECT_THAT(Method::load(program, "forward", bounded),
              test::FailsWith(ErrorCode::kMemoryAllocationFailed,
                              HasSubstr("no memory for the check of the memory plan")));
}

// Measures the steps of a load by searching for the smallest sufficient limit.
class PlanStepsTest : public test::PlanTest {
 protected:
  // The method writes many small results into the memory of one large value. It reads the large
  // value before each small result.
  uint64_t steps_of(int32_t size) {
    start_over();
    forward_.buffer_sizes = {0, 64 * size};
    const int32_t large = at(0, 4 * size);
    const int32_t out = at(32 * static_cast<uint64_t>(size));
    for (int32_t i = 0; i < size; ++i) {
      scale(large, out);
      scale(out, at(16 * static_cast<uint64_t>(i)));
    }
    const auto program = build();
    MethodOptions bounded = options();
    return least([&](uint64_t steps) {
      bounded.limits.max_load_steps = steps;
      return Method::load(program, "forward", bounded).ok();
    });
  }
};

TEST_F(PlanStepsTest, StepsGrowLinearlyWithFileSize) {
  EXPECT_LE(steps_of(1000), 5 * steps_of(250));
}

// Programs whose results have random offsets. By definition, a plan is wrong if it overwrites a
// value between the write and the last read of that value.
class RandomPlanTest : public test::PlanTest {
 protected:
  struct Placed {
    int32_t value;
    uint64_t offset;
    size_t written;
    size_t last_read;
    std::vector<float> elements;
  };
  static constexpr uint64_t kRoom = 160;

  bool overlap(const Placed& a, uint64_t offset) const {
    return a.offset < offset + 16 && offset < a.offset + 16;
  }
  uint64_t somewhere() { return random_() % (kRoom / 4 - 4) * 4; }

  void make() {
    start_over();
    forward_.buffer_sizes = {0, static_cast<int64_t>(kRoom)};
    placed_.clear();
    const size_t inputs = 1 + random_() % 2;
    for (size_t i = 0; i < inputs; ++i) {
      const uint64_t offset = somewhere();
      placed_.push_back({input(offset), offset, i, i, {1 + float(i), 2, 3, 4}});
    }
    const size_t steps = 3 + random_() % 6;
    for (size_t step = 0; step < steps; ++step) {
      Placed& a = placed_[random_() % placed_.size()];
      Placed& b = placed_[random_() % placed_.size()];
      uint64_t offset = somewhere();
      while (overlap(a, offset) || overlap(b, offset)) offset = somewhere();
      a.last_read = b.last_read = inputs + step;
      Placed sum{at(offset), offset, inputs + step, inputs + step, {}};
      for (size_t i = 0; i < 4; ++i) sum.elements.push_back(a.elements[i] + b.elements[i]);
      add(a.value, b.value, sum.value);
      placed_.push_back(std::move(sum));
    }
    for (int i = 0; i < 2; ++i) {
      Placed& result = placed_[placed_.size() - 1 - random_() % 3];
      result.last_read = inputs + steps;
      forward_.outputs.push_back(result.value);
      expected_[i] = result.elements;
    }
  }
  bool is_wrong() const {
    return std::ranges::any_of(placed_, [&](const Placed& a) {
      return std::ranges::any_of(placed_, [&](const Placed& b) {
        return a.written < b.written && b.written <= a.last_read && overlap(a, b.offset);
      });
    });
  }

  std::mt19937 random_{7};
  std::vector<Placed> placed_;
  std::vector<float> expected_[2];
};

TEST_F(RandomPlanTest, IsRejectedIfAndOnlyIfALiveValueIsOverwritten) {
  int refused = 0;
  constexpr int kPrograms = 1500;
  for (int i = 0; i < kPrograms; ++i) {
    make();
    const auto method = try_load(options());
    ASSERT_EQ(method.ok(), !is_wrong()) << i << ": " << method.error().message();
    if (!method.ok()) {
      ++refused;
      continue;
    }
    for (size_t in = 0; in < (*method)->num_inputs(); ++in) {
      ASSERT_TRUE((*method)->set_input(in, value({4}, placed_[in].elements)).ok());
    }
    ASSERT_TRUE((*method)->execute().ok());
    EXPECT_EQ(output(**method, 0), expected_[0]);
    EXPECT_EQ(output(**method, 1), expected_[1]);
  }
  EXPECT_GT(refused, kPrograms / 10);
  EXPECT_LT(refused, kPrograms * 9 / 10);
}

// Compares LatestWrites, a tree, with a list of the latest write time of each position. Tests every
// number of positions up to 69, because the tree also supports numbers that are not powers of two.
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
