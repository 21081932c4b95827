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

// A measured rate of the counter is used for a period as long as the measurement. The minimum
// period suffices to measure a 20 MHz counter to within a thousandth. A longer minimum would cost
// time, because a thread reads the clock in every call until it has measured two rates.
constexpr uint64_t kMinPeriodNs = 128'000;
constexpr uint64_t kMaxPeriodNs = 4'000'000;

struct Counter {
  // Clock and counter when the rate was last measured.
  uint64_t ns = 0;
  uint64_t ticks = 0;
  uint64_t rate = 0;         // in 2^-32 nanoseconds per tick; 0 if unknown
  uint64_t valid_ticks = 0;  // the rate may be used for this many ticks after `ticks`
  uint64_t last_ns = 0;      // the last result of quick_now_ns()
};
thread_local Counter counter;

// Reads the clock. Measures the counter's rate if the last measurement was at least kMinPeriodNs
// ago. The counter is used only if two successive rates agree. Rates may differ after sleep, after
// an interruption of the measurement, or on a processor with a different counter.
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

// Returns max(`ns`, previous result), so that results never decrease.
uint64_t not_before_last(uint64_t ns) {
  counter.last_ns = std::max(counter.last_ns, ns);
  return counter.last_ns;
}

#else

uint64_t not_before_last(uint64_t ns) { return ns; }

#endif

}  // namespace

uint64_t now_ns() { return read_ns(CLOCK_MONOTONIC); }
uint64_t thread_cpu_ns() { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

#if defined(__x86_64__) || defined(__aarch64__)

uint64_t quick_now_ns() {
  const uint64_t passed = ticks() - counter.ticks;
  return not_before_last(passed < counter.valid_ticks ? counter.ns + (passed * counter.rate >> 32)
                                                      : read_clock());
}

CounterReading read_counter() {
  const uint64_t now_ticks = ticks();
  const uint64_t passed = now_ticks - counter.ticks;
  if (passed >= counter.valid_ticks) return {not_before_last(read_clock()), now_ticks};
  return {not_before_last(counter.ns + (passed * counter.rate >> 32)), now_ticks,
          static_cast<double>(counter.rate) * 0x1p-32, counter.valid_ticks - passed};
}

#else

uint64_t quick_now_ns() { return now_ns(); }
CounterReading read_counter() { return {now_ns(), ticks()}; }

#endif

void convert_ticks(const CounterReading& start, std::span<uint64_t> ticks) {
  if (ticks.empty()) return;
  uint64_t all_ticks = ticks.back() - start.ticks;
  double ns_per_tick = start.ns_per_tick;
  if (all_ticks >= start.valid_ticks) {
    all_ticks = platform::ticks() - start.ticks;
    ns_per_tick =
        static_cast<double>(quick_now_ns() - start.ns) / static_cast<double>(all_ticks | 1);
  }
  uint64_t previous = start.ns;
  for (uint64_t& tick : ticks) {
    // The counters of two processors may differ, so a tick may be before start.ticks or after the
    // last tick. The distance from start.ticks is therefore limited to `all_ticks`. Signed integers
    // convert to double faster than unsigned integers.
    const auto passed = static_cast<int64_t>(std::min(tick - start.ticks, all_ticks));
    const auto ns = static_cast<int64_t>(static_cast<double>(passed) * ns_per_tick);
    previous = tick = std::max(previous, start.ns + static_cast<uint64_t>(ns));
  }
  not_before_last(previous);
}

}  // namespace vitrine::platform
