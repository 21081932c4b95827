#include "backends/xnnpack/runtime/workspace.h"

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS
extern "C" {
#include "xnnpack/subgraph.h"
}
#endif

namespace vitrine::xnnpack {
namespace {

Result<std::shared_ptr<Workspace>> create() {
  xnn_workspace_t handle = nullptr;
  if (xnn_create_workspace(&handle) != xnn_status_success) {
    return Error::make(ErrorCode::kDelegateMemoryAllocationFailed, "no memory for a workspace");
  }
  auto workspace = std::make_shared<Workspace>();
  workspace->handle.reset(handle);
  return workspace;
}

}  // namespace

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS

size_t Workspace::bytes() const { return handle->size; }

bool forget_memory_plan(xnn_runtime_t runtime) {
  runtime->memory_planned = false;
  runtime->has_been_setup = false;
  for (size_t i = 0; i < runtime->num_values; ++i) {
    xnn_value& value = runtime->values[i];
    // Sizes never shrink: what a refused shape asked for would be asked for from now on.
    if (value.allocation_type == xnn_allocation_type_workspace) value.size = 0;
  }
  return true;
}

#else

size_t Workspace::bytes() const { return 0; }
bool forget_memory_plan(xnn_runtime_t) { return false; }

#endif

Result<std::shared_ptr<Workspace>> Workspaces::get(WorkspaceSharing sharing, const void* program) {
  const bool global = sharing == WorkspaceSharing::kGlobal;
  if (sharing == WorkspaceSharing::kOff || (!global && program == nullptr)) return create();
  const std::lock_guard lock(mutex_);
  std::erase_if(shared_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Workspace>& shared = shared_[global ? this : program];
  if (std::shared_ptr<Workspace> there = shared.lock()) return there;
  Result<std::shared_ptr<Workspace>> made = create();
  if (made.ok()) shared = *made;
  return made;
}

}  // namespace vitrine::xnnpack
