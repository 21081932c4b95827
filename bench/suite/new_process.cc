#include "bench/suite/new_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "bench/report/statistics.h"
#include "bench/suite/loaded_program.h"
#include "runtime/platform/clock.h"
#include "runtime/platform/memory.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {
namespace {

// Runs this tool in a new process with the given arguments. Returns its standard output.
std::string output_of_self(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int channel[2];
  if (pipe(channel) != 0) throw tools::ToolError("cannot create a pipe");
  const pid_t child = fork();
  if (child < 0) throw tools::ToolError("cannot start a process");
  if (child == 0) {
    dup2(channel[1], STDOUT_FILENO);
    close(channel[0]);
    close(channel[1]);
    execv("/proc/self/exe", argv.data());
    _exit(127);
  }
  close(channel[1]);
  std::string text;
  char buffer[512];
  for (ssize_t count = 0; (count = read(channel[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(count));
  }
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0)
    throw tools::ToolError(
        fmt::format("{}: the process that measures the startup failed", arguments[2]));
  return text;
}

// Returns this process's peak memory. getrusage would include the parent's memory.
uint64_t peak_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  return platform::resident_memory().peak;
}

}  // namespace

StartFigures measure_start(const std::filesystem::path& program, bool optimized_kernels,
                           size_t threads, int times) {
  std::vector<double> columns[4];
  for (int i = 0; i < times; ++i) {
    const std::string text =
        output_of_self({"bench", "start", program.string(),
                        optimized_kernels ? "optimized" : "portable", std::to_string(threads)});
    double values[4];
    if (std::sscanf(text.c_str(), "%lf %lf %lf %lf", &values[0], &values[1], &values[2],
                    &values[3]) != 4) {
      throw tools::ToolError(fmt::format(
          "{}: the process that measures the startup printed no figures", program.string()));
    }
    for (size_t k = 0; k < 4; ++k) columns[k].push_back(values[k]);
  }
  return {timing_of(columns[0]).p50, timing_of(columns[1]).p50, timing_of(columns[2]).p50,
          timing_of(columns[3]).p50};
}

int print_start(const std::filesystem::path& program, bool optimized_kernels, size_t threads) {
  const auto pool =
      std::shared_ptr<ThreadPool>(tools::check(ThreadPool::create(threads)).release());
  const uint64_t start = platform::now_ns();
  LoadedProgram loaded({program, optimized_kernels}, pool);
  const uint64_t ready = platform::now_ns();
  loaded.execute();
  const uint64_t end = platform::now_ns();
  const auto load = loaded.session().load_ns();
  fmt::print("{} {} {} {}\n", load, ready - start - load, end - ready, peak_resident());
  return 0;
}

}  // namespace vitrine::bench
