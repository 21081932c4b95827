// What kernels ask of a thread pool. runtime/threadpool defines these; they are weak, so that a
// program without a pool links none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitrine {

class ThreadPool;

// ThreadPool's threads() and run().
[[gnu::weak]] size_t threads_of(const ThreadPool& pool);
[[gnu::weak]] void run_on(ThreadPool& pool, size_t count, void (*task)(void* argument, size_t i),
                          void* argument, uint64_t work_ns);

}  // namespace vitrine
