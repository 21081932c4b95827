// Runs the checks of loading a file, and reports each result.
#pragma once

#include <string>
#include <vector>

#include "tools/pte_inspect/description.h"
#include "vitrine/named_data.h"

namespace vitrine::tools {

struct CheckResult {
  std::string name;   // "method forward: loads with this build's kernels and backends"
  std::string error;  // names the position; empty if the check passed
};

// Reads a program and its payloads, and loads every method with the kernels and backends of this
// build. `data` has external tensors, or is null. Other files are read in full. Errors in the file
// are results, not exceptions.
std::vector<CheckResult> verify_file(const OpenedFile& file, const NamedDataMap* data);

}  // namespace vitrine::tools
