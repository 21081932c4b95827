// The process's worker threads: a pthreadpool, shared by XNNPACK and the kernels that want it.
//
// One parallel region runs at a time; a second caller waits. Create one per process and share it.
#pragma once

#include <cstddef>
#include <memory>

#include "vitrine/error.h"

struct pthreadpool;

namespace vitrine {

// How many threads serve an inference best on this machine: the cores of the fastest cluster
// (cpuinfo), no more than this process may run on (affinity mask, cgroup CPU quota). At least 1.
size_t performing_core_count();

class ThreadPool {
 public:
  // `threads` counts the caller's own; 0 means performing_core_count(). One thread makes no pool.
  // InvalidArgument above 1024; OutOfResources if the threads cannot be made.
  static Result<std::unique_ptr<ThreadPool>> create(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return threads_; }
  // Calls task(argument, i) once for every i < count, by all threads, and returns when all are
  // done. Tasks must not call run().
  using Task = void (*)(void* argument, size_t i);
  void run(size_t count, Task task, void* argument);

  // Null for one thread: pthreadpool takes that as "run in the caller".
  pthreadpool* handle() const { return pool_; }

 private:
  ThreadPool(pthreadpool* pool, size_t threads) : pool_(pool), threads_(threads) {}
  pthreadpool* pool_;
  size_t threads_;
};

}  // namespace vitrine
