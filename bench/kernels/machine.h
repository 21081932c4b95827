// What this machine can do: the limits that kernels are held against.
#pragma once

#include "vitrine/thread_pool.h"

namespace vitrine::bench {

// Bytes read and written in a second by copying `bytes` bytes, on all threads of the pool.
double copy_bandwidth(ThreadPool& pool, size_t bytes);

// Floating-point operations in a second that independent fused multiply-adds reach, on all threads.
double fma_rate(ThreadPool& pool);

}  // namespace vitrine::bench
