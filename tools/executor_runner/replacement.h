// Implements --replace_delegates: runs another program of the same model if backends are missing.
#pragma once

#include <filesystem>
#include <string>

#include "vitrine/program.h"

namespace vitrine::tools {

// Checks that the method has equal inputs and outputs in both programs. Throws a ToolError with the
// first difference.
void check_same_interface(const Program& program, const Program& replacement,
                          const std::string& method);

std::string describe_replacement(const Program& program, const std::filesystem::path& file,
                                 const Program& replacement,
                                 const std::filesystem::path& replacement_file,
                                 const std::string& method);

}  // namespace vitrine::tools
