// Fuzzes loading and execution of XNNPACK payloads.
#include <cstdint>

#include "test/corruption/payload_attempt.h"
#include "test/support/program_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const vitrine::test::AlignedBytes aligned(bytes.begin(), bytes.end());
  vitrine::test::attempt_payload(aligned, nullptr);
  return 0;
}
