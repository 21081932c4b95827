// Runs executor_runner as a user does.
#pragma once

#include <filesystem>
#include <string>

namespace vitrine::test {

struct CommandResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// `arguments` go through the shell.
CommandResult executor_runner(const std::string& arguments);

// A folder of this test's own, emptied when the object is made and removed with it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace vitrine::test
