// Fuzzes lowering and execution: the input's bytes choose a model, which must give equal results
// with portable kernels, optimized kernels and XNNPACK, with and without reuse of memory.
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
