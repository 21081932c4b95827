// The corpus programs that ExecuTorch lowered with XnnpackPartitioner, and functions that prepare
// the same programs for this project's lowering.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/lowering/partitioner.h"

namespace vitrine::aot::test {

struct XnnpackCase {
  std::filesystem::path folder;
  std::string method;              // "forward"
  std::filesystem::path exported;  // model.pt2
  std::filesystem::path table;     // delegation.csv
  std::filesystem::path summary;   // delegation_summary.txt; missing in some cases
};

// The version of ExecuTorch that lowered a program. The current version is the one whose behavior
// this project implements. The folder compat/ of the corpus has programs of older versions.
enum class LoweredBy : uint8_t { kCurrentVersion, kOlderVersions };

// Returns the cases, sorted by the path of the exported program. Returns no cases if the corpus is
// not available.
std::vector<XnnpackCase> xnnpack_cases(LoweredBy version = LoweredBy::kCurrentVersion);

// The partitioners that lowered the case, in order.
std::vector<std::shared_ptr<const Partitioner>> partitioners_of(const XnnpackCase& xnnpack_case);

// Imports the program and converts it to the edge dialect. Does not decompose the operators that
// the partitioners ask to keep.
ExportedProgram edge_program(const XnnpackCase& xnnpack_case,
                             const std::vector<std::shared_ptr<const Partitioner>>& partitioners);

}  // namespace vitrine::aot::test
