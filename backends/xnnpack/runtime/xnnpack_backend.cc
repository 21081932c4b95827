#include "backends/xnnpack/runtime/xnnpack_backend.h"

#include <xnnpack.h>

#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/memory_reserve.h"
#include "backends/xnnpack/runtime/nibble_packing.h"
#include "backends/xnnpack/runtime/nibble_products.h"

namespace vitrine {
namespace {

// Thread-safe, and once: later calls of XNNPACK's own are cheap, but not free of races.
xnn_status initialize_once() {
  static const xnn_status status = [] {
    const xnn_status made = xnn_initialize(&xnnpack::reserving_allocator());
    if (made == xnn_status_success) {
      xnnpack::use_fast_nibble_packing();
      xnnpack::use_fast_nibble_products();
    }
    return made;
  }();
  return status;
}

}  // namespace

// The one compile spec that lowering may write steers the lowering only.
Result<std::unique_ptr<Delegate>> XnnpackBackend::init(const BackendInitContext& context,
                                                       std::span<const std::byte> processed,
                                                       std::span<const CompileSpec>) const {
  if (const xnn_status status = initialize_once(); status != xnn_status_success) {
    return Error::make(ErrorCode::kNotSupported, "XNNPACK does not run here: %s",
                       xnnpack::status_text(status));
  }
  VITRINE_ASSIGN_OR_RETURN(const xnnpack::Options options,
                           xnnpack::read_options(context.options, defaults_));
  xnnpack::Shared shared;
  VITRINE_ASSIGN_OR_RETURN(shared.workspace,
                           workspaces_.get(options.workspace_sharing, context.program));
  if (options.weights_cache || !options.packed_cache_path.empty()) {
    shared.weights = caches_.get(options.packed_cache_path);
    if (!shared.weights) {
      return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a weights cache");
    }
  }
  return xnnpack::XnnpackDelegate::create(context, processed, limits_, std::move(shared));
}

const BackendInterface& xnnpack_backend() {
  static const XnnpackBackend backend;
  return backend;
}

}  // namespace vitrine
