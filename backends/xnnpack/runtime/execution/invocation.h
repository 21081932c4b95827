// Runs an XNNPACK runtime. Small operators run on the calling thread. The pool chooses the number
// of threads for other operators (vitrine/thread_pool.h). XNNPACK itself would wake the pool for
// every operator with at least two tiles, which costs more than it saves if the operator takes a
// microsecond. Builds without XNNPACK's private headers cannot prevent this.
#pragma once

#include <xnnpack.h>

#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/stop_signal.h"
#include "vitrine/thread_pool.h"

namespace vitrine::xnnpack {

class OperatorListener {
 public:
  virtual ~OperatorListener() = default;
  // Called on the thread that runs the delegate, when the results of operator `op` are complete.
  // The next operator may overwrite these results.
  virtual void finished(size_t op) = 0;
};

// True if the operator has enough work for several threads. XNNPACK must know this when it divides
// the operator into tasks (reshape_operators()).
bool may_use_threads(xnn_runtime_t runtime, const RuntimeOperator& op);

class Invocation {
 public:
  // Lists the operators of the runtime and estimates their work with the present shapes. Call after
  // each reshape. `pool` is the runtime's pool or null. `own_kernels` is OwnKernels::names() or
  // empty. Only the first call, at load, allocates and can fail.
  Error prepare(xnn_runtime_t runtime, ThreadPool* pool,
                std::span<const char* const> own_kernels = {});
  // Runs the prepared runtime, in place of xnn_invoke_runtime(). `ends` is empty or receives
  // platform::ticks() at the end of each operator that runs. If `stop` is set, the run ends before
  // the next operator and returns success. `stop` and `listener` may be null. The listener's time
  // does not count in `ends`. Builds without XNNPACK's private headers do not call the listener.
  xnn_status run(xnn_runtime_t runtime, std::span<uint64_t> ends, const StopSignal* stop,
                 OperatorListener* listener = nullptr);
  // Returns the estimated time in ns of each operator on one thread, in running order. The time is
  // 0 for operators that are too small for several threads. Empty without XNNPACK's private
  // headers.
  std::span<const uint32_t> work_ns() const { return work_ns_; }

 private:
  xnn_status run_each(pthreadpool_t threads, std::span<uint64_t> ends, const StopSignal* stop,
                      OperatorListener* listener);

  ThreadPool* pool_ = nullptr;  // null if no operator runs on several threads
  // The operators in running order. These lists are compact, because each run of a large model
  // evicts them from the CPU caches.
  CheckedVector<xnn_operator_t> objects_;
  CheckedVector<uint8_t> object_counts_;  // number of objects of each operator
  CheckedVector<uint32_t> work_ns_;
};

}  // namespace vitrine::xnnpack
