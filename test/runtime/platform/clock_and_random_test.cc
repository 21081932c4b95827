#include "runtime/platform/clock.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "runtime/platform/random.h"

namespace vitrine::platform {
namespace {

constexpr uint64_t kTolerance =
    100'000;  // 100 us; the documented bound is 1 us, but machines stall

// Compares quick_now_ns() with now_ns() for 30 ms. In this time, quick_now_ns() reads the system
// clock many times. Between these readings, it computes the time from the processor's counter.
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

// Reads the counter once before the wait and twice after it. Returns the times of these three
// readings.
std::vector<uint64_t> times_after(std::chrono::nanoseconds wait, uint64_t& start_ns) {
  const CounterReading start = read_counter();
  std::vector<uint64_t> times = {ticks()};
  std::this_thread::sleep_for(wait);
  times.push_back(ticks());
  times.push_back(ticks());
  start_ns = start.ns;
  convert_ticks(start, times);
  return times;
}

TEST(ConvertTicks, StaysCloseToTheClockAndNeverDecreases) {
  follow_clock();  // measures the rate of the counter
  // After a long wait, the conversion reads the clock again.
  for (const auto wait : {std::chrono::milliseconds(0), std::chrono::milliseconds(20)}) {
    for (int i = 0; i < 20; ++i) {
      const uint64_t before = now_ns();
      uint64_t start_ns = 0;
      const std::vector<uint64_t> times = times_after(wait, start_ns);
      const uint64_t quick = quick_now_ns();
      EXPECT_GE(start_ns + kTolerance, before);
      EXPECT_LE(start_ns, times[0]);
      EXPECT_LE(times[0], times[1]);
      EXPECT_LE(times[1], times[2]);
      EXPECT_LE(times[2], quick);
      const uint64_t waited = times[1] - times[0];
      EXPECT_GE(waited + kTolerance, static_cast<uint64_t>(std::chrono::nanoseconds(wait).count()));
      EXPECT_LE(times[2], now_ns() + kTolerance);
    }
  }
}

TEST(ConvertTicks, WorksBeforeTheRateIsKnown) {
  std::thread([] {
    uint64_t start_ns = 0;
    const uint64_t before = now_ns();
    const std::vector<uint64_t> times = times_after(std::chrono::milliseconds(5), start_ns);
    EXPECT_GE(times[0] + kTolerance, before);
    EXPECT_GE(times[1] - times[0] + kTolerance, 5'000'000u);
    EXPECT_LE(times[2], now_ns() + kTolerance);
  }).join();
}

TEST(ConvertTicks, AcceptsZeroTicks) { convert_ticks(read_counter(), {}); }

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

TEST(Random, FillsExactlyTheGivenBytes) {
  for (size_t size = 0; size < 20; ++size) {
    std::array<std::byte, 24> bytes{};
    std::array<bool, 24> touched{};
    for (int round = 0; round < 64; ++round) {
      fill_random(std::span(bytes).subspan(2, size));
      for (size_t i = 0; i < bytes.size(); ++i) touched[i] |= bytes[i] != std::byte{0};
    }
    for (size_t i = 0; i < touched.size(); ++i) EXPECT_EQ(touched[i], i >= 2 && i < 2 + size);
  }
}

TEST(Random, NeverRepeats) {
  std::set<std::array<uint64_t, 2>> seen;
  for (int i = 0; i < 1000; ++i) {
    std::array<uint64_t, 2> numbers{};
    fill_random(std::as_writable_bytes(std::span(numbers)));
    EXPECT_TRUE(seen.insert(numbers).second);
  }
}

}  // namespace
}  // namespace vitrine::platform
