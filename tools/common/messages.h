// Prints messages that begin with the name of the tool on standard error, and defines the exit
// codes of tools.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::tools {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitBeyondLimit = 2;    // worse than an option allows
inline constexpr int kExitInterrupted = 130;  // by Ctrl-C, as shells report it
inline constexpr int kExitUsage = 64;         // the command line is wrong

// The name under which the user started the tool: "llm_runner" or "vitrine profile". Empty in
// executables that are not tools. Not thread-safe.
const std::string& program_name();
void set_program_name(std::string name);

// These functions print "llm_runner: text", "llm_runner: warning: text" and "llm_runner: error:
// text". If the name is empty, they omit it. The text may come from files.
void print_note(std::string_view text);
void print_warning(std::string_view text);
void print_error(std::string_view text);

}  // namespace vitrine::tools
