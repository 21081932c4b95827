// Reads the one clock of the runtime: nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <span>

namespace vitrine::platform {

uint64_t now_ns();

// Returns the same time as now_ns() to within a microsecond, but is faster. Adds the progress of
// the processor's counter to this thread's last reading of the clock. Results never decrease within
// a thread.
uint64_t quick_now_ns();

// One reading of the processor's counter, as a time and as a value of ticks().
struct CounterReading {
  uint64_t ns = 0;
  uint64_t ticks = 0;
  double ns_per_tick = 0;    // 0 if the rate of the counter is unknown
  uint64_t valid_ticks = 0;  // the rate may be used for this many ticks after `ticks`
};
// Reads the counter once. `ns` is what quick_now_ns() would return.
CounterReading read_counter();
// Converts values of ticks() to ns. The values must have been read in this thread after `start`.
// Reads the clock only if the last value is at least start.valid_ticks after `start`. Results never
// decrease, and later calls to quick_now_ns() do not return less.
void convert_ticks(const CounterReading& start, std::span<uint64_t> ticks);

// True if two measured rates of the processor's counter differ by less than a thousandth (1/1024)
// of `rate`. Only then does quick_now_ns() rely on the counter.
constexpr bool rates_agree(uint64_t rate, uint64_t previous) {
  const uint64_t change = rate > previous ? rate - previous : previous - rate;
  return change < rate / 1024;
}

// Returns the processor time of the calling thread.
uint64_t thread_cpu_ns();

// Reads the processor's counter. This is faster than now_ns(), and does not wait for earlier
// instructions. The counter's unit is unknown. To convert ticks to times, read the clock before and
// after.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return now_ns();
#endif
}

}  // namespace vitrine::platform
