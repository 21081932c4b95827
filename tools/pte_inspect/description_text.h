// Converts a description to text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/pte_inspect/description.h"

namespace vitrine::tools {

struct TextOptions {
  size_t width = 100;
  bool color = false;
  bool all = false;  // every row of long tables
};

// `json` is a result of describe_file.
std::string description_text(const Json& json, const TextOptions& options);

// The operators that a description's programs call, one "aten::add.out" per line, sorted and
// distinct.
std::string operator_lines(const std::vector<Json>& descriptions);

// "17.4 kB"
std::string bytes_text(uint64_t bytes);

}  // namespace vitrine::tools
