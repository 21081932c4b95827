// Builds ETRecords in memory, for tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "formats/etrecord/etrecord.h"

namespace vitrine::test {

using Members = std::vector<std::pair<std::string, std::string>>;

// Returns a zip archive.
std::vector<std::byte> make_archive(const Members& members, bool compressed = false);

// Returns a record for the portable program in the folder `portable`. The record's debug handle map
// is from a file in this folder. The record's graph is from the record in the folder `delegated`,
// because both programs have the same edge program.
std::vector<std::byte> record_of_portable(const std::filesystem::path& delegated,
                                          const std::filesystem::path& portable);

struct NodeText {
  std::string name;
  std::string target;  // "aten.relu.default"
  int debug_handle = 0;
  std::vector<std::string> inputs;
  std::string module_path;
  std::vector<int> sizes = {};  // sizes of its float32 result; empty: unknown
};

// Returns a serialized edge program with these nodes, as ExecuTorch 1.x writes it. The output of
// the program is the result of the last node.
std::string edge_program_json(const std::vector<NodeText>& nodes);

// Returns a record of a method "forward" with these nodes. `handles` is its debug handle map and
// `delegates` is its delegate map, both as JSON.
etrecord::EtRecord record_of(const std::vector<NodeText>& nodes, const std::string& handles,
                             const std::string& delegates = "{}");

}  // namespace vitrine::test
