// Runs the command-line tools in the same way as a user.
#pragma once

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "test/support/expect_error.h"
#include "test/support/scratch_folder.h"

namespace vitrine::test {

struct CommandResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};
inline void PrintTo(const CommandResult& result, std::ostream* to) {
  *to << "exit code " << result.exit_code << "\n" << result.out << result.err;
}

// Runs `tool` with `arguments` in a shell.
CommandResult run_tool(const std::string& tool, const std::string& arguments);
CommandResult executor_runner(const std::string& arguments);
// Runs executor_runner and returns the first output of the program.
std::vector<float> first_output(const std::string& arguments);

// Expects the exit code 0, and returns the result.
CommandResult succeeded(CommandResult result);

// Expects the exit code 0, and returns the JSON document on standard output.
inline nlohmann::json json_of(CommandResult result) {
  return nlohmann::json::parse(succeeded(std::move(result)).out);
}

// Matches the exit code, standard error and standard output of a CommandResult. Each argument is a
// value or a matcher.
MATCHER_P3(Exits, code, err, out, "") {
  return testing::ExplainMatchResult(code, arg.exit_code, result_listener) &&
         testing::ExplainMatchResult(err, arg.err, result_listener) &&
         testing::ExplainMatchResult(out, arg.out, result_listener);
}
template <class Code, class Err>
auto Exits(Code code, Err err) {
  return Exits(code, err, testing::_);
}
// Matches standard output. The exit code must be 0.
template <class Out>
auto Prints(Out out) {
  return Exits(0, testing::_, out);
}

}  // namespace vitrine::test
