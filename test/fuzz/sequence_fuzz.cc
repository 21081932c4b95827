// Fuzzes sequences of calls. A sequence uses several instances of a program, changes shapes and
// memory, and unloads the instances in any order. A hash of the input chooses the sequence.
#include <cstdint>

#include "test/corruption/sequence.h"
#include "test/fuzz/registries.h"
#include "test/support/program_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const vitrine::test::Registries all;
  const auto bytes = std::as_bytes(std::span(data, size));
  const vitrine::test::AlignedBytes aligned(bytes.begin(), bytes.end());
  uint64_t seed = 0xCBF29CE484222325u;  // FNV-1a
  for (const std::byte byte : aligned) seed = (seed ^ static_cast<uint8_t>(byte)) * 0x100000001B3u;
  vitrine::test::run_sequence(aligned, seed, 40, all.kernels, all.backends);
  return 0;
}
