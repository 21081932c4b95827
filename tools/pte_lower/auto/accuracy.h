// Scores a program with the user's own command (--accuracy).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace vitrine::tools {

// Runs `command` in a shell, with the path of a temporary file of the program as the last argument.
// `near` names the folder of the temporary file. Returns the last number that the command prints.
// Throws a ToolError if the command fails or prints no number.
double run_accuracy(const std::string& command, std::span<const std::byte> program,
                    const std::filesystem::path& near);

}  // namespace vitrine::tools
