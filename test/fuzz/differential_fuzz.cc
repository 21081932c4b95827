// Fuzzes lowering and execution. The input's bytes choose a model. The model's results must agree,
// within a tolerance, in all configurations of compare_runs.cc: with portable kernels, optimized
// kernels or XNNPACK, and with or without threads, reuse of memory and graph optimization.
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
