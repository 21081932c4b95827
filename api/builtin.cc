#include "api/builtin.h"

#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "kernels/llm/llm_kernels.h"
#include "kernels/optimized/optimized_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"

namespace vitrine {
namespace {

struct Builtin {
  KernelRegistry all, portable;
  BackendRegistry backends;
};

// add() cannot fail: a registry has room for these tables.
KernelRegistry make_kernels(bool with_optimized) {
  KernelRegistry tables;
  if (with_optimized) static_cast<void>(tables.add("optimized", optimized::kernels()));
  static_cast<void>(tables.add("portable", portable::kernels()));
  static_cast<void>(tables.add("quantized", quantized::kernels()));
  static_cast<void>(tables.add("llm", llm::kernels()));
  return tables;
}

Builtin& builtin() {
  static Builtin known = [] {
    Builtin made{make_kernels(true), make_kernels(false), {}};
    static_cast<void>(made.backends.add(&xnnpack_backend()));
    return made;
  }();
  return known;
}

}  // namespace

const KernelRegistry& builtin_kernels(bool optimized) {
  return optimized ? builtin().all : builtin().portable;
}

const BackendRegistry& builtin_backends() { return builtin().backends; }

Error add_extension(const Extension& extension) {
  Builtin& known = builtin();
  if (!extension.kernels.kernels.empty()) {
    VITRINE_RETURN_IF_ERROR(known.all.add(extension.name, extension.kernels));
    VITRINE_RETURN_IF_ERROR(known.portable.add(extension.name, extension.kernels));
  }
  for (const BackendInterface* backend : extension.backends) {
    VITRINE_RETURN_IF_ERROR(known.backends.add(backend));
  }
  return Error();
}

Error check_backends(std::span<const BackendOption> options) {
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string_view id = options[i].backend;
    if (builtin_backends().find(id) != nullptr) continue;
    return Error::make(ErrorCode::kInvalidArgument,
                       "backend_options[%zu]: this build has no backend %.*s; it has %s", i,
                       static_cast<int>(id.size()), id.data(), xnnpack_backend().id());
  }
  return Error();
}

}  // namespace vitrine
