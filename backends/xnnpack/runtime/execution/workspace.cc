#include "backends/xnnpack/runtime/execution/workspace.h"

#include <cpuinfo.h>

#include <algorithm>

#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "runtime/core/share.h"

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

void place_softmax_apart(xnn_runtime_t runtime) {
  constexpr size_t kVectorFloats = 16;
  constexpr size_t kLongRow = 256;  // the stall is then relatively short and the memory large
  if (!cpuinfo_has_x86_avx512f()) return;
  for (size_t i = 0; i < operator_count(runtime); ++i) {
    const RuntimeOperator op = operator_at(runtime, i);
    if (op.kind != OperatorKind::kSoftmax) continue;
    const RuntimeValue from = value_at(runtime, op.inputs[0]);
    const size_t row = from.dims.back();
    const bool stalls =
        from.datatype == xnn_datatype_fp32 && row % kVectorFloats != 0 && row < kLongRow;
    if (stalls) keep_value(runtime, op.inputs[0]);
  }
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
