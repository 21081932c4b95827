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
// values of all these runtimes move. A thread must hold `mutex` while it creates, reshapes, runs or
// deletes one of the runtimes.
struct Workspace {
  LightMutex mutex;
  WorkspaceHandle handle;

  // The part of bytes() that is charged to the budgets of methods. Hold `mutex` to access this
  // member or to call a member function.
  size_t taken = 0;

  // Assigns memory to the values of `runtime`, for the sizes of its last reshape. The workspace
  // grows to at most `max_bytes`. The memory is not initialized. Needs XNNPACK's private headers.
  Error place_values(xnn_runtime_t runtime, size_t max_bytes);
  // The size of the workspace, or 0 if this build cannot determine it.
  size_t bytes() const;
  // Charges `memory` for the bytes of the workspace that no budget has paid for. Adds the charged
  // bytes to `own`, the caller's total. If `memory` has too few bytes, charges only the bytes that
  // are left. This can happen after a delegate was deleted, because the workspace does not shrink.
  // If `memory` is null, charges nothing.
  void take_growth(Budget* memory, size_t& own);
  void give_back(Budget* memory, size_t own);
};

// Returns the OutOfResources error for a workspace above its bound.
Error exceeds_bound(size_t bytes, size_t max_bytes);

// Forces XNNPACK to plan all memory of the runtime again at the next reshape. Until then, a move of
// the workspace does not change the runtime. Hold the workspace's mutex during the call.
//
// Call for a new runtime: its values have the upper bounds of dynamic sizes, and XNNPACK never
// shrinks sizes. Also call after a failed reshape or setup: values may have new sizes without
// memory. Returns false if this build cannot force a new plan; the runtime must then not be used
// again.
bool forget_memory_plan(xnn_runtime_t runtime);

// The workspaces of a backend. Thread-safe. A workspace is deleted when its last owner drops it.
class Workspaces {
 public:
  // `program` is as in BackendInitContext. A null program shares only in mode kGlobal.
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
