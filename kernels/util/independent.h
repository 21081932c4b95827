// For loops of which no iteration reads what another writes.
#pragma once

// GCC then vectorises without a check whether the arrays overlap; clang finds out by itself.
#if defined(__GNUC__) && !defined(__clang__)
#define VITRINE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define VITRINE_INDEPENDENT_ITERATIONS
#endif
