// Reads times in nanoseconds. All wall times in this file are those of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <span>

namespace vitrine::platform {

uint64_t now_ns();

// Returns now_ns() to within a microsecond, but faster, usually from the processor's counter.
// Results never decrease within a thread.
uint64_t quick_now_ns();

// One reading of the processor's counter: a time and a value of ticks().
struct CounterReading {
  uint64_t ns = 0;
  uint64_t ticks = 0;
  double ns_per_tick = 0;    // 0 if the rate of the counter is unknown
  uint64_t valid_ticks = 0;  // the rate may be used for this many ticks after `ticks`
};
// `ns` equals the result of quick_now_ns().
CounterReading read_counter();
// Replaces values of ticks() with times in ns. Precondition: this thread has read all values after
// `start`, and the values are in the order of reading. Reads the clock only if the last value is at
// least start.ticks + start.valid_ticks. The times never decrease, also in later calls of
// quick_now_ns().
void convert_ticks(const CounterReading& start, std::span<uint64_t> ticks);

// True if two rates of the counter differ by less than 1/1024 of `rate`. Only then does
// quick_now_ns() use the counter.
constexpr bool rates_agree(uint64_t rate, uint64_t previous) {
  const uint64_t change = rate > previous ? rate - previous : previous - rate;
  return change < rate / 1024;
}

uint64_t thread_cpu_ns();

// Reads the processor's counter. Faster than now_ns(), and does not wait for earlier instructions.
// The unit is unknown. convert_ticks() converts ticks to times.
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
