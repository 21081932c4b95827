// ETRecords for tests, made in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace vitrine::test {

using Members = std::vector<std::pair<std::string, std::string>>;

// A zip archive, uncompressed unless requested.
std::vector<std::byte> make_archive(const Members& members, bool compressed = false);

// A record for the portable program in `portable`, which was lowered from the same edge program as
// the delegated one: the corpus has the graph only in the latter's record, and the former's handle
// map as a file.
std::vector<std::byte> record_of_portable(const std::filesystem::path& delegated,
                                          const std::filesystem::path& portable);

struct NodeText {
  std::string name;
  std::string target;  // "aten.relu.default"
  int debug_handle = 0;
  std::vector<std::string> inputs;
  std::string module_path;
  std::vector<int> sizes = {};  // of its float32 result; empty: unknown
};

// A serialised edge program with these nodes, as ExecuTorch 1.x writes it. It returns the last
// node's result.
std::string edge_program_json(const std::vector<NodeText>& nodes);

}  // namespace vitrine::test
