// The corpus' programs that ExecuTorch lowered with XnnpackPartitioner, and the same programs as
// this project lowers them.
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
  std::filesystem::path summary;   // delegation_summary.txt, which not all have
};

// In order of their folders; empty without the corpus. By the version of ExecuTorch whose semantics
// this project has, or by older ones (compat/).
enum class Lowered : uint8_t { kByThisVersion, kByOlderOnes };
std::vector<XnnpackCase> xnnpack_cases(Lowered lowered = Lowered::kByThisVersion);

// The partitioners that lowered it, in order.
std::vector<std::shared_ptr<const Partitioner>> partitioners_of(const XnnpackCase& each);

// Imported and converted to the edge dialect, with the operators that the partitioners keep.
ExportedProgram edge_program(const XnnpackCase& each,
                             const std::vector<std::shared_ptr<const Partitioner>>& partitioners);

}  // namespace vitrine::aot::test
