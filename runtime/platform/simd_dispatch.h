// Calls the code for the best instruction set of this machine.
//
// Highway's own dispatch needs Highway's shared library, which slows down the start of every
// process that links it.
#pragma once

#include <hwy/highway.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vitrine::simd {

#if HWY_ARCH_X86
// The result of supported_targets(), and kTargetsAreKnown. 0 before the first call.
inline std::atomic<int64_t> known_targets;
inline constexpr int64_t kTargetsAreKnown = 1;  // not the bit of a target
int64_t find_targets();                         // sets known_targets
#endif

// Highway's flags for the x86 instruction sets of this machine (SSE4 and newer). 0 on other
// architectures.
inline int64_t supported_targets() {
#if HWY_ARCH_X86
  const int64_t known = known_targets.load(std::memory_order_relaxed);
  return (known != 0 ? known : find_targets()) & ~kTargetsAreKnown;
#else
  return 0;
#endif
}

// Index in HWY_CHOOSE_TARGET_LIST of the best target that is in both `compiled` and `supported`.
// One past the list's end if none of its targets is in both.
inline size_t best_target(int64_t compiled, int64_t supported) {
  constexpr int kFirst = HWY_HIGHEST_TARGET_BIT + 1 - HWY_MAX_DYNAMIC_TARGETS;
  const auto mask = static_cast<uint64_t>(compiled & supported) >> kFirst;
  return static_cast<size_t>(__builtin_ctzll(mask | uint64_t{1} << HWY_MAX_DYNAMIC_TARGETS));
}

}  // namespace vitrine::simd

// Use VITRINE_EXPORT(Function) once, in the namespace that contains HWY_NAMESPACE. Then call
// VITRINE_DISPATCH(Function)(arguments).
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
#define VITRINE_EXPORT(function) HWY_EXPORT(function)
#define VITRINE_DISPATCH(function) HWY_STATIC_DISPATCH(function)
#else
#define VITRINE_EXPORT(function)                                              \
  constexpr decltype(&HWY_STATIC_DISPATCH(function)) function##OfTarget[] = { \
      HWY_CHOOSE_TARGET_LIST(function), HWY_CHOOSE_FALLBACK(function)}
#define VITRINE_DISPATCH(function)                               \
  (*function##OfTarget[::vitrine::simd::best_target(HWY_TARGETS, \
                                                    ::vitrine::simd::supported_targets())])
#endif
