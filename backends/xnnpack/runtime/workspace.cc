#include "backends/xnnpack/runtime/workspace.h"

#include <algorithm>

#include "runtime/core/share.h"

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS
#include <cpuinfo.h>

extern "C" {
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"
}
#endif

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

void place_softmax_apart(xnn_runtime_t runtime) {
  constexpr size_t kVector = 16;    // floats
  constexpr size_t kLongRow = 256;  // the wait is small beside it, and the place is large
  if (!cpuinfo_has_x86_avx512f()) return;
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    const xnn_operator_data& op = runtime->opdata[i];
    if (op.type != xnn_node_type_softmax) continue;
    xnn_value& from = runtime->values[op.inputs[0]];
    const size_t row = from.shape.dim[from.shape.num_dims - 1];
    const bool waits = from.datatype == xnn_datatype_fp32 && row % kVector != 0 && row < kLongRow;
    if (waits) ++from.num_consumers;  // XNNPACK writes only over what one operator reads
  }
}

#else

size_t Workspace::bytes() const { return 0; }
bool forget_memory_plan(xnn_runtime_t) { return false; }
void place_softmax_apart(xnn_runtime_t) {}

#endif

Result<std::shared_ptr<Workspace>> Workspaces::get(WorkspaceSharing sharing, const void* program) {
  const bool global = sharing == WorkspaceSharing::kGlobal;
  if (sharing == WorkspaceSharing::kOff || (!global && program == nullptr)) return create();
  const std::lock_guard lock(mutex_);
  shared_.erase_if([](const Sharing& each) { return each.workspace.expired(); });
  const void* const by = global ? this : program;
  for (const Sharing& each : shared_) {
    if (each.by != by) continue;
    if (std::shared_ptr<Workspace> there = each.workspace.lock()) return there;
  }
  VITRINE_ASSIGN_OR_RETURN(std::shared_ptr<Workspace> made, create());
  VITRINE_RETURN_IF_ERROR(shared_.push_back({by, made}));
  return made;
}

}  // namespace vitrine::xnnpack
