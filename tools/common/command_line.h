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

// Parses the command line, then calls `check`, which may throw CLI::ParseError or HostError.
// Returns false if the tool must exit with *exit_code: 0 after --help or --version, kExitUsage if
// the command line is wrong. Reports errors on stderr. The error for an unknown option suggests a
// similar one. Accepts '-' for '_' and '_' for '-' in names of options. The second overload takes
// the arguments without the name of the tool.
bool parse_command_line(CLI::App& app, int argc, char** argv, const std::function<void()>& check,
                        int* exit_code);
bool parse_command_line(CLI::App& app, std::vector<std::string> arguments,
                        const std::function<void()>& check, int* exit_code);

// Runs the main function of a tool: calls `run`, which returns the exit code, and checks that all
// output was written. Prints an exception to stderr and then returns kExitFailed. If Ctrl-C
// canceled an execution, ends the process with SIGINT instead. Messages begin with `name`, unless
// another name is already set.
int run_tool(const char* name, const std::function<int()>& run);

// Adds options to a CLI::App under one heading of the help text.
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

// Checks that a number is `min` or more.
CLI::Validator at_least(int min);
// Checks that a number is in [min, max].
CLI::Validator between(int min, int max);
// Checks that a number is finite and above 0.
CLI::Validator positive();

inline constexpr int kMaxRuns = 1000000000;
inline constexpr int kMaxThreads = 1024;
inline constexpr int kDefaultThreads = -1;  // one per performance core

// Adds --threads. Its value is positive, or 0 or kDefaultThreads for the default.
void add_threads(const OptionGroup& group, int& threads);

// Makes an option accept several files, separated by commas.
CLI::Option* as_files(CLI::Option* option);

// Shows the names in the help and in the shell completion: "table|json|csv".
CLI::Option* show_choices(CLI::Option* option, const std::set<std::string>& names);

// Makes an option accept one of the names in `choices`, and store the value of that name.
template <class Value>
CLI::Option* as_choice(CLI::Option* option, const std::map<std::string, Value>& choices) {
  std::set<std::string> names;
  for (const auto& choice : choices) names.insert(choice.first);
  show_choices(option, names);
  // CLI11 runs the last transform first, so IsMember rejects texts that are not names in `choices`.
  // CheckedTransformer alone would also accept the values in `choices`.
  return option->transform(CLI::CheckedTransformer(choices).description(""))
      ->transform(CLI::IsMember(std::move(names)).description(""));
}

}  // namespace vitrine::tools
