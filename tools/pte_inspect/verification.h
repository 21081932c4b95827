// All checks that loading a file makes, one line a check.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/pte_inspect/description.h"
#include "vitrine/named_data.h"

namespace vitrine::tools {

struct VerifiedStep {
  std::string what;   // "method forward loads"
  std::string error;  // with the place; empty: sound
};

// A program is read, its delegates' payloads too, and every method is loaded as for running, with
// the kernels and backends of this build. `data` may be null: then tensors that a program keeps
// outside are missing. Other files are read in full. Never throws for what the file holds.
std::vector<VerifiedStep> verify_file(const OpenedFile& file, const NamedDataMap* data);

}  // namespace vitrine::tools
