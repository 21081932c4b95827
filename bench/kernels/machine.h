// Measures this machine's limits, to compare kernels with.
#pragma once

#include "vitrine/thread_pool.h"

namespace vitrine::bench {

// Bytes read and written in a second by copying `bytes` bytes, on all threads of the pool.
double copy_bandwidth(ThreadPool& pool, size_t bytes);

// Floating-point operations per second of independent fused multiply-adds, on all threads.
double fma_rate(ThreadPool& pool);

}  // namespace vitrine::bench
