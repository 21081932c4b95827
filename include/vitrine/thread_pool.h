// ThreadPool owns worker threads (a pthreadpool) and decides for each parallel region whether to
// use them.
//
// A region runs on the calling thread alone if it has little work, or if other work needs the
// processors (runtime/threads/thread_policy.h). Results do not depend on these decisions.
//
// Thread-safe. One region runs at a time; a second caller blocks until it ends. Create one pool per
// process, and share it between methods.
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
    // Every region of at least kMinWorkNs runs on all threads, no matter what else runs on the
    // processors. Runs with the same shapes therefore use the same threads.
    kAlways
  };
  // `threads` includes the calling thread; 0 means performing_core_count(). With 1, the pool has no
  // workers. An adaptive pool has no more threads than this process has processors, except that the
  // limit is never less than two. InvalidArgument above 1024; OutOfResources if the threads cannot
  // be created.
  static Result<std::unique_ptr<ThreadPool>> create(size_t threads, Use use = Use::kAdaptive);
  virtual ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return threads_; }
  Use use() const { return use_; }
  // A region with less work than this is faster on one thread, so the caller need not call
  // should_parallelize().
  static constexpr uint64_t kMinWorkNs = 8'000;
  // The amount of work to pass for a region that always needs all threads.
  static constexpr uint64_t kLargeWorkNs = 1'000'000'000;

  // These functions are virtual, so that executables without a pool do not link them.

  // Decides about a region that takes `work_ns` on one thread. Returns true if the caller should
  // run it on all threads now, and false if the caller should run it alone.
  virtual bool should_parallelize(uint64_t work_ns);
  // Calls task(argument, i) once for every i < count on all threads, and returns when all calls
  // have returned. Tasks must not call run().
  using Task = void (*)(void* argument, size_t i);
  virtual void run(size_t count, Task task, void* argument);
  // Null if the pool has only one thread; pthreadpool then runs tasks on the calling thread.
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
