#include "tools/pte_lower/auto/accuracy.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "runtime/core/parse_real.h"
#include "tools/common/files.h"
#include "tools/common/shell_word.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr size_t kMaxOutput = 1 << 20;  // bytes that are kept

// Words are separated by white space.
std::string_view last_word(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t end = text.find_last_not_of(kSpace);
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const size_t space = text.find_last_of(kSpace);
  return space == std::string_view::npos ? text : text.substr(space + 1);
}

}  // namespace

double run_accuracy(const std::string& command, std::span<const std::byte> program,
                    const std::filesystem::path& near) {
  NewFile file(near);  // the destructor removes the file
  file.append(program);
  file.finish();
  const std::filesystem::path path = file.temporary_path();
  if (path.empty()) throw ToolError("--accuracy needs --output with the name of a file");
  const std::string line = command + ' ' + shell_word(path.string());
  std::fflush(nullptr);
  FILE* const pipe = popen(line.c_str(), "r");  // NOLINT(cert-env33-c): the user's own command
  if (pipe == nullptr)
    throw ToolError(fmt::format("--accuracy {}: cannot start the command", command));
  std::string output;
  std::array<char, 4096> buffer{};
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
    if (output.size() > 2 * kMaxOutput) output.erase(0, output.size() - kMaxOutput);
  }
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw ToolError(fmt::format("--accuracy {}: the command failed with {} {}", command,
                                WIFEXITED(status) ? "exit code" : "signal",
                                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)));
  }
  double score = 0;
  if (!parse_real(last_word(output), score) || !std::isfinite(score)) {
    throw ToolError(
        fmt::format("--accuracy {}: the last word of its output must be a number, found \"{}\"",
                    command, last_word(output).substr(0, 100)));
  }
  return score;
}

}  // namespace vitrine::tools
