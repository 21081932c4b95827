// Runs the same checks as loading a file, and reports each result.
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

// Reads a program and the payloads of its delegates, and loads every method with the kernels and
// backends of this build. `data` has the external tensors of a program; it may be null. Other files
// are read in full. Reports errors in the file as results, without throwing.
std::vector<CheckResult> verify_file(const OpenedFile& file, const NamedDataMap* data);

}  // namespace vitrine::tools
