// The process's worker threads: a pthreadpool, shared by XNNPACK and the kernels that want it.
//
// One parallel region runs at a time; a second caller waits. Create one per process and share it.
//
// Callers work alone while that is faster: for little work, and in runs that were tried both ways
// (run_trial.h). Workers look out for work for 0.25 ms (Zen 4) after the last region. Then they
// sleep, and waking them takes 20 microseconds. A worker whose core the system gives to another
// process keeps its caller waiting for milliseconds. If that costs more than the workers save, the
// pool pauses: callers work alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "vitrine/error.h"
#include "vitrine/run_trial.h"

struct pthreadpool;

namespace vitrine {

// How many threads serve an inference best on this machine: the cores of the fastest cluster
// (cpuinfo), no more than this process may run on (affinity mask, cgroup CPU quota). At least 1.
size_t performing_core_count();

class ThreadPool {
 public:
  enum class Use : uint8_t {
    kWhileItPays,
    kAlways  // for tests of what threads share: every region runs on all threads
  };
  // `threads` counts the caller's own; 0 means performing_core_count(). One thread makes no pool.
  // InvalidArgument above 1024; OutOfResources if the threads cannot be made.
  static Result<std::unique_ptr<ThreadPool>> create(size_t threads, Use use = Use::kWhileItPays);
  virtual ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return threads_; }
  Use use() const { return use_; }
  // Calls task(argument, i) once for every i < count, by all threads or by the caller's alone, and
  // returns when all are done. One thread takes about `work_ns` for all. Tasks must not call run().
  using Task = void (*)(void* argument, size_t i);
  // Virtual, so that kernels can call it without linking it into programs without a pool.
  virtual void run(size_t count, Task task, void* argument, uint64_t work_ns = kMuchWork);
  static constexpr uint64_t kMuchWork = 1'000'000'000;

  // Around a run of a Method, by the thread that runs it; end_run() takes what begin_run()
  // returned. Virtual for the same reason.
  virtual uint64_t begin_run(RunTrial& trial, uint64_t shape);
  virtual void end_run(RunTrial& trial, uint64_t start_ns);

  // Null for one thread: pthreadpool takes that as "run in the caller".
  pthreadpool* handle() const { return pool_; }

  // For callers that pass handle() on; run() does this by itself. Times are of CLOCK_MONOTONIC.
  // Thread-safe.
  //
  // Whether all threads are expected to be faster than the caller's alone for a region that begins
  // now. The caller follows the answer, and calls account() after a region on all threads.
  bool pays(uint64_t now_ns, uint64_t work_ns);
  // A region ended now. It took `took_ns` on all threads; `own_ns` is what it takes if no worker
  // keeps the caller waiting, `alone_ns` what it takes one thread: 0 if that is not known.
  void account(uint64_t now_ns, uint64_t took_ns, uint64_t own_ns, uint64_t alone_ns = 0);
  // Whether the pool pauses, or the caller's run is one on its thread alone.
  bool rests(uint64_t now_ns) const;

 private:
  ThreadPool(pthreadpool* pool, size_t threads, Use use);

  pthreadpool* pool_;
  size_t threads_;
  Use use_;
  std::atomic<bool> awake_{false};      // the last region was one of all threads
  std::atomic<uint64_t> end_ns_{0};     // of the last region
  std::atomic<uint64_t> alone_ns_{0};   // work of regions that callers did alone, without long gaps
  std::atomic<int64_t> lost_ns_;        // by the workers; negative: what they saved, up to a bound
  std::atomic<uint64_t> resume_ns_{0};  // when a pause is over
  std::atomic<uint64_t> pause_ns_{0};   // the length of the last one
};

}  // namespace vitrine
