// Fuzzes the code for one format. VITRINE_ATTEMPT is a function of format_attempts.h.
#include <cstdint>
#include <span>

#include "test/corruption/format_attempts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vitrine::test::VITRINE_ATTEMPT(std::as_bytes(std::span(data, size)));
  return 0;
}
