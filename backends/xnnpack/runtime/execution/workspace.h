// Manages the memory for intermediate values, which delegates may share.
#pragma once

#include <memory>
#include <mutex>

#include "backends/xnnpack/runtime/execution/handles.h"
#include "backends/xnnpack/runtime/execution/light_mutex.h"
#include "backends/xnnpack/runtime/execution/options.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/budget.h"

namespace vitrine::xnnpack {

// When a workspace grows, the values of all runtimes in it move. So code that creates, reshapes,
// runs or deletes such a runtime must hold the mutex.
struct Workspace {
  LightMutex mutex;
  WorkspaceHandle handle;

  // The part of bytes() that is charged to methods' budgets. Hold the mutex to access this member
  // or to call the functions below.
  size_t taken = 0;

  // Gives the runtime memory for the sizes of its last reshape. The workspace grows if it is too
  // small, to at most `max_bytes`. The memory is not initialized: every value is written before it
  // is read. Only for builds with XNNPACK's private headers.
  Error place_values(xnn_runtime_t runtime, size_t max_bytes);
  // The size of the workspace; 0 if this build cannot determine it.
  size_t bytes() const;
  // Charges `memory` for the bytes of the workspace that are not yet charged to any budget, and
  // adds their number to `own`, the total that the caller has charged. `memory` may be null. The
  // budget has room for the bytes that the caller allocated, because MemoryReserve limited them. It
  // may lack room for the other bytes, which delegates had charged and gave back when they were
  // deleted. If `memory` has too few bytes left, charges only the bytes that are left.
  void take_growth(Budget* memory, size_t& own);
  void give_back(Budget* memory, size_t own);
};

// Returns the error OutOfResources for a workspace that would be larger than its bound.
Error exceeds_bound(size_t bytes, size_t max_bytes);

// Forces XNNPACK to plan all memory of the runtime again at the next reshape. Until then, other
// runtimes that move the workspace ignore this one. The mutex must be held. Call this after a
// reshape or setup failed, because some values may have new sizes but no memory for them. Call it
// for a new runtime, because its values have the upper bounds of dynamic sizes. Also call it before
// a runtime gets other sizes (resizing.h). Returns false if this build cannot make XNNPACK plan the
// memory again; the runtime must then not be used again.
bool forget_memory_plan(xnn_runtime_t runtime);

// The workspaces of a backend. Thread-safe. A workspace is deleted when its last owner drops it.
class Workspaces {
 public:
  // `program` identifies the program, as in BackendInitContext. If it is null, the workspace is
  // shared only in mode kGlobal.
  Result<std::shared_ptr<Workspace>> get(WorkspaceSharing sharing, const void* program);

 private:
  std::mutex mutex_;
  struct SharedWorkspace {
    const void* owner;  // a program, or this object in mode kGlobal
    std::weak_ptr<Workspace> workspace;
  };
  CheckedVector<SharedWorkspace> shared_;
};

}  // namespace vitrine::xnnpack
