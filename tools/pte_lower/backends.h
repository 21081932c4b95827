// The backends that this build can lower to.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "aot/lowering/partitioner.h"

namespace vitrine::tools {

struct BackendRow {
  std::string_view name;  // as the command line has it
  std::string_view id;    // as programs have it
  std::string_view what;  // for --help
  std::shared_ptr<const aot::Partitioner> (*make_partitioner)();
};

std::span<const BackendRow> lowering_backends();
// ToolError names those that there are.
const BackendRow& lowering_backend(std::string_view name);

}  // namespace vitrine::tools
