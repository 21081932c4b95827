// Parses the command lines of tools.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace vitrine::tools {

// Parses the command line, then calls `check`, which may throw CLI::ParseError or HostError. Prints
// errors to stderr, with a suggestion for an unknown option. Treats '-' and '_' in option names as
// equal. Returns true if the tool can continue. Otherwise sets *exit_code to 0 after --help or
// --version, or to kExitUsage after an error. In the second overload, `arguments` excludes the name
// of the tool.
bool parse_command_line(CLI::App& app, int argc, char** argv, const std::function<void()>& check,
                        int* exit_code);
bool parse_command_line(CLI::App& app, std::vector<std::string> arguments,
                        const std::function<void()>& check, int* exit_code);

// Calls `run`, checks that all output was written, and returns the exit code. Prints the message of
// an exception to stderr and returns kExitFailed. After Ctrl-C, ends the process with SIGINT.
// `name` is the tool's name unless set_program_name() was called.
int run_tool(const char* name, const std::function<int()>& run);

// Adds options under one heading of the help text.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, const char* heading) : app_(app), heading_(heading) {}

  template <class... Arguments>
  CLI::Option* add_option(Arguments&&... arguments) const {
    return app_.add_option(std::forward<Arguments>(arguments)...)->group(heading_);
  }
  template <class... Arguments>
  CLI::Option* add_flag(Arguments&&... arguments) const {
    return app_.add_flag(std::forward<Arguments>(arguments)...)->group(heading_);
  }

 private:
  CLI::App& app_;
  const char* heading_;
};

CLI::Validator at_least(int min);
CLI::Validator between(int min, int max);
// Checks that a number is finite and above 0.
CLI::Validator positive();

inline constexpr int kMaxRuns = 1000000000;
inline constexpr int kMaxThreads = 1024;
inline constexpr int kDefaultThreads = -1;  // one per performance core

// Adds --threads, which accepts 1 to kMaxThreads. 0 and kDefaultThreads select the default.
void add_threads(const OptionGroup& group, int& threads);

// Makes an option accept several files, separated by commas.
CLI::Option* as_files(CLI::Option* option);

// Shows the possible values in the help and in the shell completion: "table|json|csv".
CLI::Option* show_choices(CLI::Option* option, const std::set<std::string>& names);

// Makes an option accept the names in `choices`, and store the named value.
template <class Value>
CLI::Option* as_choice(CLI::Option* option, const std::map<std::string, Value>& choices) {
  std::set<std::string> names;
  for (const auto& choice : choices) names.insert(choice.first);
  show_choices(option, names);
  // CheckedTransformer also accepts mapped values, such as "0" for the first enumerator. IsMember
  // accepts only names. CLI11 runs the last transform first.
  return option->transform(CLI::CheckedTransformer(choices).description(""))
      ->transform(CLI::IsMember(std::move(names)).description(""));
}

}  // namespace vitrine::tools
