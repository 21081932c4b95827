// ThreadPool owns worker threads (a pthreadpool) and decides for each parallel region whether to
// use them.
//
// A region runs on the calling thread alone if it has little work, or if other work needs the
// processors (runtime/threads/thread_policy.h). Results do not depend on these decisions.
//
// Thread-safe. One region runs at a time, and a second caller blocks until the region ends. Create
// one pool per process, and share the pool between methods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vitrine/error.h"

struct pthreadpool;

namespace vitrine {

class ThreadPolicy;

// The number of performance cores: the cores of the fastest clusters (cpuinfo). At least 1, and at
// most the number of processors that this process may use (affinity mask, CPU quota of its control
// groups).
size_t performing_core_count();

class ThreadPool {
 public:
  enum class Use : uint8_t {
    kAdaptive,
    // Every region of at least kMinWorkNs runs on all threads, so runs with the same shapes use the
    // same threads.
    kAlways
  };
  // `threads` includes the calling thread. 0 selects performing_core_count(). A pool of one thread
  // has no workers. An adaptive pool has at most max(2, p) threads if the process may use p
  // processors. Returns InvalidArgument if `threads` is above 1024, and OutOfResources if the
  // threads cannot be created.
  static Result<std::unique_ptr<ThreadPool>> create(size_t threads, Use use = Use::kAdaptive);
  virtual ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return threads_; }
  Use use() const { return use_; }
  // A region with less work is faster on one thread, so its caller need not call
  // should_parallelize().
  static constexpr uint64_t kMinWorkNs = 4'000;
  // Callers cap larger estimates of work at this value.
  static constexpr uint64_t kLargeWorkNs = 1'000'000'000;

  // The functions below are virtual, so that executables without a pool do not link their code.

  // True if a region of `work_ns` (on one thread) should use all threads now. False if the caller
  // should run the region alone.
  virtual bool should_parallelize(uint64_t work_ns);
  // Calls task(argument, i) once for every i < count on all threads, and returns when all calls
  // have returned. Tasks must not call run().
  using Task = void (*)(void* argument, size_t i);
  virtual void run(size_t count, Task task, void* argument);
  // Null if the pool has only one thread. pthreadpool then runs tasks on the calling thread.
  pthreadpool* handle() const { return pool_; }

  // Method::execute() calls begin_run() and end_run() on the calling thread.
  virtual void begin_run();
  virtual void end_run();

 private:
  ThreadPool(size_t threads, Use use);

  size_t threads_;
  Use use_;
  pthreadpool* pool_ = nullptr;           // null for one thread
  std::unique_ptr<ThreadPolicy> policy_;  // null for one thread
};

}  // namespace vitrine
