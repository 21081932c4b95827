// Fuzzes loading and execution of programs, with all kernels and backends.
#include <cstdint>

#include "test/corruption/attempt.h"
#include "test/fuzz/registries.h"
#include "test/support/program_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const vitrine::test::Registries all;
  const auto bytes = std::as_bytes(std::span(data, size));
  const vitrine::test::AlignedBytes aligned(bytes.begin(), bytes.end());
  vitrine::test::attempt(aligned, all.kernels, all.backends);
  return 0;
}
