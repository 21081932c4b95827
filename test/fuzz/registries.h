// All kernels, and XNNPACK within bounds, for targets that run programs.
#pragma once

#include <cstdlib>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "kernels/llm/llm_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"
#include "test/corruption/blob_attempt.h"
#include "vitrine/backend.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

struct Registries {
  Registries() : backend(kBlobLimits) {
    const bool added = kernels.add("portable", portable::kernels()).ok() &&
                       kernels.add("quantized", quantized::kernels()).ok() &&
                       kernels.add("llm", llm::kernels()).ok() && backends.add(&backend).ok();
    if (!added) std::abort();
  }
  KernelRegistry kernels;
  XnnpackBackend backend;
  BackendRegistry backends;
};

}  // namespace vitrine::test
