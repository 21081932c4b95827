// .pt2 archives: import, and lower what imports to programs, on every path.
#include <cstdint>
#include <span>

#include "test/corruption/lowering_attempt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using vitrine::test::LoweringPath;
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const LoweringPath path :
       {LoweringPath::kNoBackend, LoweringPath::kXnnpack, LoweringPath::kMappingDemo}) {
    const std::string error = vitrine::test::attempt_lowering(bytes, path);
    if (error.starts_with("model.pt2")) return 0;  // it does not import
  }
  return 0;
}
