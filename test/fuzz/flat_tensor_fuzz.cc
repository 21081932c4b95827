// Fuzzes the loader of .ptd files.
#include <cstdint>
#include <span>

#include "test/corruption/format_attempts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vitrine::test::attempt_flat_tensor(std::as_bytes(std::span(data, size)));
  return 0;
}
