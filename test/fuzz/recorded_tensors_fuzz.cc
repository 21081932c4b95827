// Fuzzes the reader of an ETRecord's reference outputs, a torch.save archive of tensors.
#include <cstdint>
#include <span>

#include "test/corruption/format_attempts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vitrine::test::attempt_recorded_tensors(std::as_bytes(std::span(data, size)));
  return 0;
}
