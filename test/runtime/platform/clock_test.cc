#include "runtime/platform/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace vitrine::platform {
namespace {

constexpr uint64_t kTolerance =
    100'000;  // 100 us; the documented bound is 1 us, but machines stall

// Compares both clocks for 30 ms, so the system clock is read many times; between two readings, the
// processor's counter supplies the time.
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

TEST(RatesAgree, AcceptsChangesBelowAThousandth) {
  constexpr uint64_t kRate = 1024 * 1000;  // a thousandth (1/1024) of it is 1000
  EXPECT_TRUE(rates_agree(kRate, kRate));
  EXPECT_TRUE(rates_agree(kRate, kRate + 999));
  EXPECT_TRUE(rates_agree(kRate, kRate - 999));
  EXPECT_FALSE(rates_agree(kRate, kRate + 1000));
  EXPECT_FALSE(rates_agree(kRate, kRate - 1000));
}

TEST(RatesAgree, RejectsUnknownRates) {
  EXPECT_FALSE(rates_agree(0, 0)) << "the time since the last reading was too long";
  EXPECT_FALSE(rates_agree(uint64_t{1} << 32, 0)) << "the first measurement";
  EXPECT_FALSE(rates_agree(0, uint64_t{1} << 32));
}

TEST(QuickClock, StaysCloseToTheClockAndNeverDecreases) { follow_clock(); }

TEST(QuickClock, WorksInANewThread) {
  follow_clock();
  std::thread(follow_clock).join();
}

TEST(QuickClock, StaysCloseToTheClockAfterASleep) {
  follow_clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const uint64_t before = now_ns();
  const uint64_t quick = quick_now_ns();
  EXPECT_GE(quick + kTolerance, before);
  EXPECT_LE(quick, now_ns() + kTolerance);
}

}  // namespace
}  // namespace vitrine::platform
