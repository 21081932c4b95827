#include "runtime/platform/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace vitrine::platform {
namespace {

constexpr uint64_t kTolerance = 100'000;  // of a microsecond that is promised: machines stall

// Long enough for many readings of the clock between which the counter serves.
void follow_clock() {
  const uint64_t end = now_ns() + 30'000'000;
  uint64_t last = 0;
  while (true) {
    const uint64_t before = now_ns();
    const uint64_t quick = quick_now_ns();
    const uint64_t after = now_ns();
    ASSERT_GE(quick + kTolerance, before);
    ASSERT_LE(quick, after + kTolerance);
    ASSERT_GE(quick, last);
    last = quick;
    if (after > end) return;
  }
}

TEST(QuickClock, FollowsTheClockAndNeverGoesBack) { follow_clock(); }

TEST(QuickClock, StartsAnewInEveryThread) {
  follow_clock();
  std::thread(follow_clock).join();
}

TEST(QuickClock, FollowsTheClockAfterAPause) {
  follow_clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const uint64_t before = now_ns();
  const uint64_t quick = quick_now_ns();
  EXPECT_GE(quick + kTolerance, before);
  EXPECT_LE(quick, now_ns() + kTolerance);
}

}  // namespace
}  // namespace vitrine::platform
