// .pt2 archives: import, and lower what imports to programs, on every path. An input that begins
// with '{' is a program's JSON without weights, and is put into an archive.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "test/aot/import/pt2_writer.h"
#include "test/corruption/lowering_attempt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using vitrine::test::LoweringPath;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> archive;
  if (size > 0 && data[0] == '{') {
    const std::string program(reinterpret_cast<const char*>(data), size);
    archive = vitrine::test::write_zip(vitrine::test::small_pt2(program));
    bytes = archive;
  }
  for (const LoweringPath path :
       {LoweringPath::kNoBackend, LoweringPath::kXnnpack, LoweringPath::kMappingDemo}) {
    const std::string error = vitrine::test::attempt_lowering(bytes, path);
    if (error.starts_with("model.pt2")) return 0;  // it does not import
  }
  return 0;
}
