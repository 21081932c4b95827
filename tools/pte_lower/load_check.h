// Checks a new program by loading it, before its file gets its final name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vitrine::tools {

// Loads each method that has delegates. If a backend refuses a payload, throws a ToolError with the
// reason. If this build lacks a kernel, for example of a custom operator, stops and returns a note.
// `data` lists the program's .ptd files.
std::optional<std::string> check_loading(const std::filesystem::path& program,
                                         const std::vector<std::filesystem::path>& data);

}  // namespace vitrine::tools
