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

// The memory for the intermediate values of one or more runtimes. When the workspace grows, the
// values of all these runtimes move. So a thread must hold `mutex` while it creates, reshapes, runs
// or deletes one of the runtimes.
struct Workspace {
  LightMutex mutex;
  WorkspaceHandle handle;

  // The part of bytes() that is charged to the budgets of methods. Hold `mutex` to access this
  // member or to call a member function.
  size_t taken = 0;

  // Assigns memory of the workspace to the values of `runtime`, for the sizes of its last reshape.
  // If the workspace is too small, it grows to at most `max_bytes`. The memory is not initialized,
  // because every value is written before it is read. Needs XNNPACK's private headers.
  Error place_values(xnn_runtime_t runtime, size_t max_bytes);
  // The size of the workspace; 0 if this build cannot determine it.
  size_t bytes() const;
  // Charges `memory` for the bytes of the workspace that no budget has paid for. Adds the number of
  // charged bytes to `own`, the caller's total. If `memory` has too few bytes left, charges only
  // the bytes that are left. This can happen after a delegate was deleted: its bytes went back to
  // its budget, but the workspace did not shrink. If `memory` is null, charges nothing.
  void take_growth(Budget* memory, size_t& own);
  void give_back(Budget* memory, size_t own);
};

// Returns the error OutOfResources for a workspace that would be larger than its bound.
Error exceeds_bound(size_t bytes, size_t max_bytes);

// Forces XNNPACK to plan all memory of the runtime again at the next reshape. Until then, a move of
// the workspace does not change the runtime. Hold the workspace's mutex during the call.
//
// Call this function for a new runtime, because its values have the upper bounds of dynamic sizes
// and XNNPACK never shrinks sizes. Also call it after a failed reshape or setup, because some
// values may have new sizes but no memory for them. Returns false if this build cannot force a new
// plan; the runtime must then not be used again.
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
