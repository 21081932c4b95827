// Fuzzes the ETDump reader, including the conversion of tensors to logical order.
#include <cstdint>
#include <span>

#include "test/corruption/format_attempts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vitrine::test::attempt_etdump(std::as_bytes(std::span(data, size)));
  return 0;
}
