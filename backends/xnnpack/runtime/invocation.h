// Runs an XNNPACK runtime, each operator on one thread or on all of its pool, as its work pays for.
//
// XNNPACK wakes the pool for every operator that has two tiles. For operators of a microsecond that
// costs more than they take. Builds without XNNPACK's private headers leave it at that.
#pragma once

#include <xnnpack.h>

#include <cstdint>

#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

class Invocation {
 public:
  // Chooses anew: for the runtime's shapes as they are. Allocates, and can fail, the first time
  // only, which loading is.
  Error plan(xnn_runtime_t runtime);
  // xnn_invoke_runtime(), of the runtime that was planned.
  xnn_status run(xnn_runtime_t runtime) const;

 private:
  CheckedVector<bool> in_parallel_;  // by operator; empty: XNNPACK's own way
};

}  // namespace vitrine::xnnpack
