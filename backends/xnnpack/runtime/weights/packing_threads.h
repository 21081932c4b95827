// Chooses the threads that pack the weights of a delegate.
#pragma once

namespace vitrine {
class ThreadPool;
}

namespace vitrine::xnnpack {

// While this object exists, the calling thread packs with the threads of `pool`, or alone if `pool`
// is null.
class PackingThreads {
 public:
  explicit PackingThreads(ThreadPool* pool) { pool_ = pool; }
  ~PackingThreads() { pool_ = nullptr; }
  PackingThreads(const PackingThreads&) = delete;
  PackingThreads& operator=(const PackingThreads&) = delete;

  static ThreadPool* pool() { return pool_; }

 private:
  // The packing functions read the pool from this variable, because XNNPACK cannot pass it to them.
  static inline thread_local ThreadPool* pool_ = nullptr;
};

}  // namespace vitrine::xnnpack
