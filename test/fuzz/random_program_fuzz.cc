// Fuzzes execution. The first two bytes of the input choose sequences of calls. The other bytes
// choose a program.
#include <cstdint>

#include "test/corruption/random_program.h"
#include "test/corruption/sequence.h"
#include "test/fuzz/registries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const vitrine::test::Registries all;
  if (size < 2) return 0;
  const uint64_t seed = data[0] * uint64_t{256} + data[1];
  const auto file = vitrine::test::random_program({data + 2, size - 2}, all.kernels);
  // Runs several sequences, since libFuzzer's overhead per input exceeds the time of a sequence.
  for (const auto* kernels : {&all.kernels, &all.optimized_kernels}) {
    for (uint64_t i = 0; i < 3; ++i) {
      vitrine::test::run_sequence(file, seed + i, 30, *kernels, all.backends);
    }
  }
  return 0;
}
