// Converts the description of a file to text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/pte_inspect/description.h"

namespace vitrine::tools {

struct TextOptions {
  size_t width = 100;
  bool color = false;
  bool all = false;  // print all rows of long tables
};

// `json` is a result of describe_file().
std::string description_text(const Json& json, const TextOptions& options);

// Returns the called operators, one per line ("aten::add.out"), sorted and without duplicates.
std::string operator_lines(const std::vector<Json>& descriptions);

// Formats a size: "17.4 kB".
std::string bytes_text(uint64_t bytes);

}  // namespace vitrine::tools
