// Loads a new program before its file gets its final name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vitrine::tools {

// Loads each method with delegates. Throws a ToolError with the reason if a backend refuses a
// payload. If this build lacks a kernel, stops and returns a note. `data` lists the program's .ptd
// files.
std::optional<std::string> check_loading(const std::filesystem::path& program,
                                         const std::vector<std::filesystem::path>& data);

}  // namespace vitrine::tools
