// .pt2 archives: import and print what imports.
#include <cstdint>
#include <span>

#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/import/pt2.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto program =
        vitrine::aot::parse_pt2(std::as_bytes(std::span(data, size)), nullptr, "input");
    vitrine::aot::format_graph(*program.graph);
  } catch (const vitrine::aot::AotError&) {
  }
  return 0;
}
