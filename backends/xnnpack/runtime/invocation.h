// Runs an XNNPACK runtime, each operator on one thread or on all of its pool, as its work pays for.
//
// XNNPACK wakes the pool for every operator that has two tiles. For operators of a microsecond that
// costs more than they take. Builds without XNNPACK's private headers leave it at that.
#pragma once

#include <xnnpack.h>

#include <cstdint>
#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/thread_pool.h"

namespace vitrine::xnnpack {

class Invocation {
 public:
  // Chooses anew: for the runtime's shapes as they are. `pool` is the runtime's and may be null.
  // Allocates, and can fail, the first time only, which loading is.
  Error plan(xnn_runtime_t runtime, ThreadPool* pool);
  // xnn_invoke_runtime(), of the runtime that was planned. `ends` is empty or has a place for each
  // operator that runs: it gets platform::ticks() when the operator ends.
  xnn_status run(xnn_runtime_t runtime, std::span<uint64_t> ends);

 private:
  [[maybe_unused]] ThreadPool* pool_ = nullptr;  // null: no operator runs on several threads
  // One of the runtime's that was not fused into another. Times of one thread are the shortest that
  // were measured.
  struct Operator {
    uint64_t work_ns = 0;      // of one thread, estimated, then measured; 0: too little for several
    uint64_t usual_ns = 0;     // on all threads; 0: not known yet
    uint64_t alone_ns = 0;     // of one thread, measured; 0: not known yet
    uint32_t trials = 0;       // runs on one thread that are still to be timed
    uint32_t until_alone = 0;  // runs on all threads until one thread is timed; 0: never
  };
  static void end_alone(Operator& op, uint64_t took_ns);
  static bool must_be_alone(Operator& op);
  xnn_status run_in_turn(pthreadpool_t threads, std::span<uint64_t> ends);
  xnn_status run_next(Operator& op, std::span<const xnn_operator_t> objects, pthreadpool_t threads,
                      bool* rests);
  // What runs, in running order. Small lists: between two runs of a large model they leave the
  // caches.
  CheckedVector<xnn_operator_t> objects_;
  CheckedVector<uint8_t> object_counts_;  // of each operator
  CheckedVector<Operator> operators_;
};

}  // namespace vitrine::xnnpack
