// How tools read their command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace vitrine::tools {

// Parses, then calls `check`, which may throw CLI::ParseError. False if the program is to end with
// *exit_code: after --help, or a wrong command line, which is reported on stderr together with the
// options nearest to those that are unknown.
bool parse_command_line(CLI::App& app, int argc, char** argv, const std::function<void()>& check,
                        int* exit_code);

// Makes an option take files, separated by commas.
CLI::Option* as_files(CLI::Option* option);

}  // namespace vitrine::tools
