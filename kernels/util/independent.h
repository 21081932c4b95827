// Marks a loop in which no iteration reads what another iteration writes.
#pragma once

// With the mark, GCC vectorizes without checking whether the arrays overlap. Clang needs no mark.
#if defined(__GNUC__) && !defined(__clang__)
#define VITRINE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define VITRINE_INDEPENDENT_ITERATIONS
#endif
