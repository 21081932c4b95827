// The backends that this build can lower to.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "aot/lowering/partitioner.h"

namespace vitrine::tools {

struct BackendRow {
  std::string_view name;  // its name on the command line
  std::string_view id;    // its name in programs
  std::string_view what;  // for --help
  std::shared_ptr<const aot::Partitioner> (*make_partitioner)();
};

std::span<const BackendRow> lowering_backends();
// ToolError lists the known backends.
const BackendRow& lowering_backend(std::string_view name);

}  // namespace vitrine::tools
