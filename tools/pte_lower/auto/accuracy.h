// Scores a program with the user's own command (--accuracy).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace vitrine::tools {

// Writes the program to a temporary file in the folder of `near`. Runs `command` in a shell, with
// this file as the last argument. Returns the last word of the output as a number. Throws a
// ToolError if the command fails or the word is not a finite number.
double run_accuracy(const std::string& command, std::span<const std::byte> program,
                    const std::filesystem::path& near);

}  // namespace vitrine::tools
