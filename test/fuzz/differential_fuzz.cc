// Fuzzes lowering and execution. The input's bytes choose a model. Its results must be equal with
// portable kernels, with optimized kernels and with XNNPACK, and both with and without reuse of
// memory.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "test/differential/compare_runs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = vitrine::test::random_model({data, size});
  const vitrine::test::Comparison result = vitrine::test::compare_runs(model);
  if (result.difference.empty()) return 0;
  std::fprintf(stderr, "%s\n", result.difference.c_str());
  std::abort();
}
