// Programs that the file's bytes choose, in sequences of calls that its first bytes choose.
#include <cstdint>

#include "test/corruption/random_program.h"
#include "test/corruption/sequence.h"
#include "test/fuzz/registries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const vitrine::test::Registries all;
  if (size < 3) return 0;
  const auto& kernels = data[0] % 2 == 0 ? all.kernels : all.optimized_kernels;
  const uint64_t seed = data[1] * uint64_t{256} + data[2];
  const auto file = vitrine::test::random_program({data + 3, size - 3}, kernels);
  vitrine::test::run_sequence(file, seed, 30, kernels, all.backends);
  return 0;
}
