#include "runtime/platform/clock.h"

#include <algorithm>
#include <ctime>

namespace vitrine::platform {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)

// A rate is measured over as much time, and believed for as long as it was measured.
constexpr uint64_t kPeriodNs = 1'000'000;
constexpr uint64_t kLongestNs = 4 * kPeriodNs;

struct Counter {
  // Where the counter stood when the clock was read.
  uint64_t ns = 0;
  uint64_t ticks = 0;
  uint64_t rate = 0;      // 2^-32 nanoseconds a tick; 0: not known
  uint64_t believed = 0;  // so many ticks after `ticks`
  uint64_t given_ns = 0;  // never less afterwards
};
thread_local Counter counter;

// A rate that differs from the one before tells of a thread that had to wait between the two
// readings, of a machine that slept, or of counters that differ between processors: the clock
// serves until two rates agree.
uint64_t read_clock() {
  const uint64_t now = now_ns();
  const uint64_t now_ticks = ticks();
  const uint64_t passed = now - counter.ns;
  if (passed < kPeriodNs) return now;
  const uint64_t passed_ticks = now_ticks - counter.ticks;
  const uint64_t rate = passed < kLongestNs ? (passed << 32) / (passed_ticks | 1) : 0;
  const uint64_t change = std::max(rate, counter.rate) - std::min(rate, counter.rate);
  counter.believed = change < rate / 1024 ? passed_ticks : 0;
  counter.ns = now;
  counter.ticks = now_ticks;
  counter.rate = rate;
  return now;
}

#endif

}  // namespace

uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

#if defined(__x86_64__) || defined(__aarch64__)

uint64_t quick_now_ns() {
  const uint64_t passed = ticks() - counter.ticks;
  const uint64_t ns =
      passed < counter.believed ? counter.ns + (passed * counter.rate >> 32) : read_clock();
  counter.given_ns = std::max(counter.given_ns, ns);
  return counter.given_ns;
}

#else

uint64_t quick_now_ns() { return now_ns(); }

#endif

}  // namespace vitrine::platform
