// How tools read their command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace vitrine::tools {

// Parses, then calls `check`, which may throw CLI::ParseError. False if the program is to end with
// *exit_code: after --help, or a wrong command line, which is reported on stderr together with the
// options nearest to those that are unknown.
bool parse_command_line(CLI::App& app, int argc, char** argv, const std::function<void()>& check,
                        int* exit_code);

// What a tool's main does: runs `run`, which gives the exit code, and sees that its output was
// written. After an exception, which is reported on stderr behind the tool's name, the code is 1.
int run_tool(const char* name, const std::function<int()>& run);

// Options under a heading of the help.
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

// Checks that a number is not below `least`, in words that name no other limit.
CLI::Validator at_least(int least);
// Checks that a number is above 0.
CLI::Validator positive();

// Makes an option take files, separated by commas.
CLI::Option* as_files(CLI::Option* option);

// Makes an option take one of the names, each for a value.
template <class Value>
CLI::Option* as_choice(CLI::Option* option, const std::map<std::string, Value>& choices) {
  std::set<std::string> names;
  for (const auto& choice : choices) names.insert(choice.first);
  // The one added last is asked first. The other alone would also take, and print, values.
  return option->transform(CLI::CheckedTransformer(choices).description(""))
      ->transform(CLI::IsMember(std::move(names)).description(""));
}

}  // namespace vitrine::tools
