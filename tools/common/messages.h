// Messages that begin with the tool's name on standard error, and exit codes of tools.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::tools {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitBeyondLimit = 2;    // worse than an option allows
inline constexpr int kExitInterrupted = 130;  // exit code of shells after Ctrl-C
inline constexpr int kExitUsage = 64;         // the command line is wrong

// The name under which the user started the tool: "llm_runner" or "vitrine profile". Empty in other
// executables. Not thread-safe.
const std::string& program_name();
void set_program_name(std::string name);

// These functions print "llm_runner: text", "llm_runner: warning: text" and "llm_runner: error:
// text". If the tool's name is empty, the name is omitted. The text may come from files.
void print_note(std::string_view text);
void print_warning(std::string_view text);
void print_error(std::string_view text);

}  // namespace vitrine::tools
