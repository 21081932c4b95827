#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"

#include <xnnpack.h>

#include "backends/xnnpack/runtime/execution/delegate.h"
#include "backends/xnnpack/runtime/execution/f32_products.h"
#include "backends/xnnpack/runtime/execution/int4_products.h"
#include "backends/xnnpack/runtime/execution/memory_reserve.h"
#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "backends/xnnpack/runtime/weights/f32_packing.h"
#include "backends/xnnpack/runtime/weights/int4_packing.h"

namespace vitrine {
namespace {

// Initializes XNNPACK once. Thread-safe, unlike xnn_initialize().
xnn_status initialize_once() {
  static const xnn_status status = [] {
    const xnn_status initialized = xnn_initialize(&xnnpack::reserving_allocator());
    if (initialized == xnn_status_success) {
      xnnpack::prepare_xnnpack();
      xnnpack::use_fast_int4_packing();
      xnnpack::use_parallel_f32_packing();
      xnnpack::use_fast_int4_products();
      xnnpack::use_narrow_f32_tails();
    }
    return initialized;
  }();
  return status;
}

}  // namespace

// Compile specs affect only lowering, so init() ignores them.
Result<std::unique_ptr<Delegate>> XnnpackBackend::init(const BackendInitContext& context,
                                                       std::span<const std::byte> payload,
                                                       std::span<const CompileSpec>) const {
  if (const xnn_status status = initialize_once(); status != xnn_status_success) {
    return Error::make(ErrorCode::kNotSupported, "XNNPACK does not support this processor: %s",
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
  return xnnpack::XnnpackDelegate::create(context, payload, limits_, std::move(shared), options);
}

const BackendInterface& xnnpack_backend() {
  static const XnnpackBackend backend;
  return backend;
}

}  // namespace vitrine
