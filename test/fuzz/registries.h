// All kernels, and XNNPACK within bounds, for targets that run programs.
#pragma once

#include <cstdlib>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "kernels/llm/llm_kernels.h"
#include "kernels/optimized/optimized_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"
#include "test/corruption/blob_attempt.h"
#include "vitrine/backend.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

struct Registries {
  Registries() : backend(kBlobLimits) {
    bool added = optimized_kernels.add("optimized", optimized::kernels()).ok();
    for (KernelRegistry* registry : {&kernels, &optimized_kernels}) {
      added = added && registry->add("portable", portable::kernels()).ok() &&
              registry->add("quantized", quantized::kernels()).ok() &&
              registry->add("llm", llm::kernels()).ok();
    }
    if (!added || !backends.add(&backend).ok()) std::abort();
  }
  KernelRegistry kernels;
  KernelRegistry optimized_kernels;  // those where there are some, else as above
  XnnpackBackend backend;
  BackendRegistry backends;
};

}  // namespace vitrine::test
