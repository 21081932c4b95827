#pragma once

namespace vitrine {
class ThreadPool;
}

namespace vitrine::xnnpack {

// While this object exists, the calling thread packs with `pool`, or alone if `pool` is null.
class PackingThreads {
 public:
  explicit PackingThreads(ThreadPool* pool) { pool_ = pool; }
  ~PackingThreads() { pool_ = nullptr; }
  PackingThreads(const PackingThreads&) = delete;
  PackingThreads& operator=(const PackingThreads&) = delete;

  static ThreadPool* pool() { return pool_; }

 private:
  // XNNPACK cannot pass the pool to the packing functions, so they read this variable.
  static inline thread_local ThreadPool* pool_ = nullptr;
};

}  // namespace vitrine::xnnpack
