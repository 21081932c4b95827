// The one clock: nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

namespace vitrine::platform {

uint64_t now_ns();

// now_ns() to within a microsecond, in a third of its time: what the processor's counter says since
// the calling thread last read the clock, some milliseconds ago. Never goes back in a thread.
uint64_t quick_now_ns();

// A counter that the processor reads in a fraction of the clock's time, and without waiting for
// what runs before. Its unit is unknown: the clock around it gives its readings a place in time.
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
