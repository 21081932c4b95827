#include "runtime/platform/clock.h"

#include <algorithm>
#include <ctime>

namespace vitrine::platform {
namespace {

uint64_t read_ns(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

#if defined(__x86_64__) || defined(__aarch64__)

// The rate of the counter is measured over a period between these limits, and is used for a period
// of the same length. The lower limit is short, because a thread reads the clock until it has
// measured two rates. It is nevertheless long enough to measure the rate of a counter of 20 MHz to
// within a thousandth.
constexpr uint64_t kMinPeriodNs = 128'000;
constexpr uint64_t kMaxPeriodNs = 4'000'000;

struct Counter {
  // Values of clock and counter when the clock was last read.
  uint64_t ns = 0;
  uint64_t ticks = 0;
  uint64_t rate = 0;         // in 2^-32 nanoseconds per tick; 0 if unknown
  uint64_t valid_ticks = 0;  // the rate may be used for this many ticks after `ticks`
  uint64_t last_ns = 0;      // the last result of quick_now_ns()
};
thread_local Counter counter;

// Reads the clock and measures the counter's rate. If the rate differs from the previous rate, the
// thread had to wait between reading the clock and the counter, the machine slept, or the counters
// of two processors differ. In this case, the counter is not used until two successive rates agree.
uint64_t read_clock() {
  const uint64_t now = now_ns();
  const uint64_t now_ticks = ticks();
  const uint64_t passed = now - counter.ns;
  if (passed < kMinPeriodNs) return now;
  const uint64_t passed_ticks = now_ticks - counter.ticks;
  const uint64_t rate = passed < kMaxPeriodNs ? (passed << 32) / (passed_ticks | 1) : 0;
  counter.valid_ticks = rates_agree(rate, counter.rate) ? passed_ticks : 0;
  counter.ns = now;
  counter.ticks = now_ticks;
  counter.rate = rate;
  return now;
}

#endif

}  // namespace

uint64_t now_ns() { return read_ns(CLOCK_MONOTONIC); }
uint64_t thread_cpu_ns() { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

#if defined(__x86_64__) || defined(__aarch64__)

uint64_t quick_now_ns() {
  const uint64_t passed = ticks() - counter.ticks;
  const uint64_t ns =
      passed < counter.valid_ticks ? counter.ns + (passed * counter.rate >> 32) : read_clock();
  counter.last_ns = std::max(counter.last_ns, ns);
  return counter.last_ns;
}

#else

uint64_t quick_now_ns() { return now_ns(); }

#endif

}  // namespace vitrine::platform
