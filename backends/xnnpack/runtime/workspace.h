// Memory for intermediate values, and which delegates share it.
#pragma once

#include <memory>
#include <mutex>

#include "backends/xnnpack/runtime/handles.h"
#include "backends/xnnpack/runtime/light_mutex.h"
#include "backends/xnnpack/runtime/options.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/budget.h"

namespace vitrine::xnnpack {

// Growing a workspace moves the values of all runtimes in it: whoever makes, reshapes, runs or
// deletes one of them holds the mutex.
struct Workspace {
  LightMutex mutex;
  WorkspaceHandle handle;

  // Of bytes(), what methods' budgets account for. The mutex is held, as for all below.
  size_t taken = 0;

  // 0 if this build cannot tell.
  size_t bytes() const;
  // Takes what nobody has taken of it from `memory`, which may be null. That is what the caller has
  // made it grow by, for which there is memory (MemoryReserve), and what others left behind, which
  // is taken as far as there is any. `own`: what the caller has taken so far.
  void take_growth(Budget* memory, size_t& own);
  void give_back(Budget* memory, size_t own);
};

// For a runtime that failed to be reshaped or set up: some of its values may have their new sizes
// and no memory for them. Also for a new one, whose values have the upper bounds of dynamic sizes,
// and for one that gets other sizes (resizing.h). Afterwards the next reshape plans all memory
// anew, and neighbours that move the workspace leave this runtime out. False if this build cannot
// do it: the runtime must not be used again. The mutex is held.
bool forget_memory_plan(xnn_runtime_t runtime);

// For a new runtime. XNNPACK plans to write a softmax over its input. AVX-512 writes the end of a
// row under a mask where the row does not fill its vectors, and the first load of the next row
// waits until these bytes are in the cache: about 29 ns a row. Short rows get a place of their own
// instead. Nothing in builds without XNNPACK's private headers.
void place_softmax_apart(xnn_runtime_t runtime);

// Thread-safe. Workspaces live as long as somebody holds them.
class Workspaces {
 public:
  // `program` tells programs apart, as in BackendInitContext; without one nothing is shared with
  // it.
  Result<std::shared_ptr<Workspace>> get(WorkspaceSharing sharing, const void* program);

 private:
  std::mutex mutex_;
  struct Sharing {
    const void* by;  // a program, or this
    std::weak_ptr<Workspace> workspace;
  };
  CheckedVector<Sharing> shared_;
};

}  // namespace vitrine::xnnpack
