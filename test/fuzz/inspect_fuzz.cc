// Fuzzes pte_inspect: describes, prints and draws files of every kind that it reads.
#include <cstdint>
#include <span>
#include <stdexcept>

#include "test/support/program_builder.h"
#include "tools/pte_inspect/description.h"
#include "tools/pte_inspect/description_text.h"
#include "tools/pte_inspect/loading.h"
#include "tools/pte_inspect/program_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vitrine::tools;
  const auto bytes = std::as_bytes(std::span(data, size));
  const vitrine::test::AlignedBytes aligned(bytes.begin(), bytes.end());
  const OpenedFile file{"input", aligned};
  try {
    const Json json = describe_file(file);
    description_text(json, {});
    json.dump(1, ' ', false, Json::error_handler_t::replace);
    if (kind_of_file(file.bytes, file.name) == FileKind::kProgram) {
      graph_dot(graphs_of_program(*load_program(file)));
    }
  } catch (const std::runtime_error&) {  // errors are allowed
  }
  return 0;
}
