// Runs the command-line tools as a user does.
#pragma once

#include <string>

#include "test/support/scratch_folder.h"

namespace vitrine::test {

struct CommandResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// `arguments` go through the shell.
CommandResult run_tool(const std::string& tool, const std::string& arguments);
CommandResult executor_runner(const std::string& arguments);

}  // namespace vitrine::test
