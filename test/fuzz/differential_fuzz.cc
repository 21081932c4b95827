// Models that the file's bytes choose, run by portable kernels, optimised ones and XNNPACK, with
// and without reuse of memory: all must agree.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "test/differential/ways_to_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = vitrine::test::random_model({data, size});
  const vitrine::test::Comparison result = vitrine::test::compare_ways(model);
  if (result.difference.empty()) return 0;
  std::fprintf(stderr, "%s\n", result.difference.c_str());
  std::abort();
}
