// Fuzzes import and lowering of .pt2 archives. The hash of the input chooses one of three lowering
// paths, because running all three would take three times as long. An input that starts with '{' is
// a program in JSON without weights. The target writes this program to an archive first.
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
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
  constexpr LoweringPath kPaths[] = {LoweringPath::kNoBackend, LoweringPath::kXnnpack,
                                     LoweringPath::kDemo};
  const size_t hash = std::hash<std::string_view>()({reinterpret_cast<const char*>(data), size});
  vitrine::test::attempt_lowering(bytes, kPaths[hash % std::size(kPaths)]);
  return 0;
}
