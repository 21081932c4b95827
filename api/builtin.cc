#include "api/builtin.h"

#include "backends/mapping_demo/runtime/mapping_demo_backend.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "kernels/llm/llm_kernels.h"
#include "kernels/optimized/optimized_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"

namespace vitrine {
namespace {

// A registry takes more tables than there are here: adding one cannot fail.
KernelRegistry make_kernels(bool with_optimized) {
  KernelRegistry tables;
  if (with_optimized) static_cast<void>(tables.add("optimized", optimized::kernels()));
  static_cast<void>(tables.add("portable", portable::kernels()));
  static_cast<void>(tables.add("quantized", quantized::kernels()));
  static_cast<void>(tables.add("llm", llm::kernels()));
  return tables;
}

}  // namespace

const KernelRegistry& builtin_kernels(bool optimized) {
  static const KernelRegistry kAll = make_kernels(true);
  static const KernelRegistry kPortable = make_kernels(false);
  return optimized ? kAll : kPortable;
}

const BackendRegistry& builtin_backends() {
  static const BackendRegistry kBackends = [] {
    BackendRegistry backends;
    static_cast<void>(backends.add(&xnnpack_backend()));
    static_cast<void>(backends.add(&mapping_demo_backend()));
    return backends;
  }();
  return kBackends;
}

Error check_backends(std::span<const BackendOption> options) {
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string_view id = options[i].backend;
    if (builtin_backends().find(id) != nullptr) continue;
    return Error::make(ErrorCode::kInvalidArgument,
                       "backend_options[%zu]: this build has no backend %.*s, but %s and %s", i,
                       static_cast<int>(id.size()), id.data(), xnnpack_backend().id(),
                       mapping_demo_backend().id());
  }
  return Error();
}

}  // namespace vitrine
