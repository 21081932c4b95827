// The work of pte_inspect, for its main and for tests.
#pragma once

#include <string>

#include "tools/pte_inspect/options.h"

namespace vitrine::tools {

struct Inspection {
  std::string text;   // for standard output or the report's file
  int exit_code = 0;  // 1: --verify found an error; 2: --fail_above or --min_sqnr
};

// Throws HostErrors that name the file and the place.
Inspection inspect(const InspectOptions& options);

}  // namespace vitrine::tools
