#include "backends/xnnpack/runtime/execution/workspace.h"

#include <algorithm>

#include "backends/xnnpack/runtime/execution/memory_reserve.h"
#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "backends/xnnpack/runtime/execution/subgraph.h"
#include "backends/xnnpack/runtime/execution/workspace_plan.h"
#include "runtime/core/share.h"
#include "runtime/platform/memory.h"

namespace vitrine::xnnpack {
namespace {

Result<std::shared_ptr<Workspace>> create() {
  std::shared_ptr<Workspace> workspace =
      share(std::unique_ptr<Workspace>(new (std::nothrow) Workspace));
  xnn_workspace_t handle = nullptr;
  if (!workspace || xnn_create_workspace(&handle) != xnn_status_success) {
    return Error::make(ErrorCode::kDelegateMemoryAllocationFailed, "no memory for a workspace");
  }
  workspace->handle.reset(handle);
  return workspace;
}

}  // namespace

Error exceeds_bound(size_t bytes, size_t max_bytes) {
  return Error::make(ErrorCode::kOutOfResources,
                     "a workspace of %zu bytes exceeds the bound of %zu bytes (xnnpack::Limits, "
                     "max_memory_bytes)",
                     bytes, max_bytes);
}

Error Workspace::place_values(xnn_runtime_t runtime, size_t max_bytes) {
  WorkspacePlan plan;
  VITRINE_RETURN_IF_ERROR(plan.make(runtime));
  if (plan.bytes() > bytes()) {
    if (plan.bytes() > max_bytes) return exceeds_bound(plan.bytes(), max_bytes);
    const xnn_status grown = grow_workspace(handle.get(), plan.bytes());
    if (grown != xnn_status_success) {
      return Error::make(ErrorCode::kDelegateMemoryAllocationFailed,
                         "XNNPACK cannot run with these sizes: %s", status_text(grown));
    }
    // Makes the system provide the memory pages now. Page faults during the run would take longer.
    platform::provide_pages({workspace_memory(handle.get()), plan.bytes()});
  }
  plan.apply(runtime, workspace_memory(handle.get()));
  keep_memory_plan(runtime);
  return Error();
}

void Workspace::take_growth(Budget* memory, size_t& own) {
  const size_t now = bytes();
  if (memory == nullptr || now <= taken) return;
  const auto growth = static_cast<size_t>(std::min<uint64_t>(now - taken, memory->left()));
  if (!memory->take(growth)) return;
  own += growth;
  taken += growth;
}

void Workspace::give_back(Budget* memory, size_t own) {
  if (memory != nullptr) memory->give_back(own);
  taken -= own;
}

size_t Workspace::bytes() const { return workspace_bytes(handle.get()); }

bool forget_memory_plan(xnn_runtime_t runtime) {
  drop_memory_plan(runtime);
  return can_access_runtimes();
}

Result<std::shared_ptr<Workspace>> Workspaces::get(WorkspaceSharing sharing, const void* program) {
  const bool global = sharing == WorkspaceSharing::kGlobal;
  if (sharing == WorkspaceSharing::kOff || (!global && program == nullptr)) return create();
  const std::lock_guard lock(mutex_);
  shared_.erase_if([](const SharedWorkspace& each) { return each.workspace.expired(); });
  const void* const owner = global ? this : program;
  for (const SharedWorkspace& each : shared_) {
    if (each.owner != owner) continue;
    if (std::shared_ptr<Workspace> found = each.workspace.lock()) return found;
  }
  VITRINE_ASSIGN_OR_RETURN(std::shared_ptr<Workspace> made, create());
  VITRINE_RETURN_IF_ERROR(shared_.push_back({owner, made}));
  return made;
}

}  // namespace vitrine::xnnpack
