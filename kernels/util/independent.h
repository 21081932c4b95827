// Marks a loop in which no iteration reads what another iteration writes.
#pragma once

// With this mark, GCC vectorizes a loop without checking whether arrays overlap.
#if defined(__GNUC__) && !defined(__clang__)
#define VITRINE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define VITRINE_INDEPENDENT_ITERATIONS
#endif
