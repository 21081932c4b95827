// Checks a new program by loading it, before its file gets its final name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vitrine::tools {

// Loads the methods that have delegates, to find payloads that a backend refuses. Throws a
// ToolError with the reason. Returns a note if this build lacks kernels, for example of custom
// operators. `data` lists the program's .ptd files.
std::optional<std::string> check_loading(const std::filesystem::path& program,
                                         const std::vector<std::filesystem::path>& data);

}  // namespace vitrine::tools
