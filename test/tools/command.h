// Runs the command-line tools in the same way as a user.
#pragma once

#include <string>

#include "test/support/scratch_folder.h"

namespace vitrine::test {

struct CommandResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Runs `tool` with `arguments` in a shell.
CommandResult run_tool(const std::string& tool, const std::string& arguments);
CommandResult executor_runner(const std::string& arguments);

}  // namespace vitrine::test
