// Whole programs: load, and execute what loads, with all kernels and backends.
#include <cstdint>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "kernels/llm/llm_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"
#include "test/corruption/attempt.h"
#include "test/corruption/blob_attempt.h"
#include "test/support/program_builder.h"

namespace {

struct Registries {
  Registries() : backend(vitrine::test::kBlobLimits) {
    const bool added = kernels.add("portable", vitrine::portable::kernels()).ok() &&
                       kernels.add("quantized", vitrine::quantized::kernels()).ok() &&
                       kernels.add("llm", vitrine::llm::kernels()).ok() &&
                       backends.add(&backend).ok();
    if (!added) std::abort();
  }
  vitrine::KernelRegistry kernels;
  vitrine::XnnpackBackend backend;
  vitrine::BackendRegistry backends;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Registries all;
  const auto bytes = std::as_bytes(std::span(data, size));
  const vitrine::test::AlignedBytes aligned(bytes.begin(), bytes.end());
  vitrine::test::attempt(aligned, all.kernels, all.backends);
  return 0;
}
