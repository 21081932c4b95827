// The user's own score of a program (--accuracy).
#pragma once

#include <filesystem>
#include <string>

namespace vitrine::tools {

// Runs `command` in a shell, with the path of the program as the last argument. Returns the number
// that it prints last. Throws a ToolError if it fails or prints no number.
double run_accuracy(const std::string& command, const std::filesystem::path& program);

}  // namespace vitrine::tools
