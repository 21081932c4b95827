#include "test/tools/command.h"

#include <sys/wait.h>

#include <cstdlib>

#include "test/support/read_text.h"

namespace vitrine::test {

CommandResult run_tool(const std::string& tool, const std::string& arguments) {
  const ScratchFolder scratch;
  const std::string command = std::string(VITRINE_EMULATOR " ") + tool + " " + arguments + " >" +
                              (scratch / "out").string() + " 2>" + (scratch / "err").string();
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(scratch / "out"),
          read_text(scratch / "err")};
}

CommandResult executor_runner(const std::string& arguments) {
  return run_tool(VITRINE_EXECUTOR_RUNNER, arguments);
}

std::vector<float> first_output(const std::string& arguments) {
  const ScratchFolder scratch;
  succeeded(executor_runner(arguments + " --output_file " + (scratch / "y").string()));
  std::vector<float> values = read_floats(scratch / "y-0.bin");
  EXPECT_FALSE(values.empty());
  return values;
}

CommandResult succeeded(CommandResult result) {
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  return result;
}

}  // namespace vitrine::test
