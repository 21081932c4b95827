// Runs all checks that loading a file makes, and reports each.
#pragma once

#include <string>
#include <vector>

#include "tools/pte_inspect/description.h"
#include "vitrine/named_data.h"

namespace vitrine::tools {

struct VerifiedStep {
  std::string what;   // "method forward loads"
  std::string error;  // with the place; empty: passed
};

// Reads a program and its delegates' payloads, and loads every method as for running, with the
// kernels and backends of this build. If `data` is null, a program's external tensors are missing.
// Reads other files in full. Never throws because of a file's contents.
std::vector<VerifiedStep> verify_file(const OpenedFile& file, const NamedDataMap* data);

}  // namespace vitrine::tools
