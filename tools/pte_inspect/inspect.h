#pragma once

#include <string>

#include "tools/pte_inspect/options.h"

namespace vitrine::tools {

struct Inspection {
  std::string text;   // text for standard output or the file of --output
  int exit_code = 0;  // 1: --verify failed; 2: beyond --fail_above or --min_sqnr
};

// Runs the task. Throws a HostError that names the file and the position.
Inspection inspect(const InspectOptions& options);

}  // namespace vitrine::tools
