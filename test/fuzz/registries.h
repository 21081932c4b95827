// Registers all kernels and the XNNPACK backend for fuzz targets that execute programs. XNNPACK may
// use only the memory that kPayloadLimits allows.
#pragma once

#include <cstdlib>

#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "kernels/llm/llm_kernels.h"
#include "kernels/optimized/optimized_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"
#include "test/corruption/payload_attempt.h"
#include "vitrine/backend.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

struct Registries {
  Registries() : backend(kPayloadLimits) {
    bool added = optimized_kernels.add("optimized", optimized::kernels()).ok();
    for (KernelRegistry* registry : {&kernels, &optimized_kernels}) {
      added = added && registry->add("portable", portable::kernels()).ok() &&
              registry->add("quantized", quantized::kernels()).ok() &&
              registry->add("llm", llm::kernels()).ok();
    }
    if (!added || !backends.add(&backend).ok()) std::abort();
  }
  KernelRegistry kernels;
  KernelRegistry optimized_kernels;  // falls back to `kernels`
  XnnpackBackend backend;
  BackendRegistry backends;
};

}  // namespace vitrine::test
