#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vitrine::tools {

struct RunOptions {
  std::string model;
  std::string method = "forward";
  std::vector<std::string> inputs;  // "a.bin", "a.bin:2x16" or a number
  std::vector<std::string> data;    // .ptd files
  std::string output_file;          // an empty text means that outputs are only printed
  size_t threads = 0;               // 0: the number of performance cores
  size_t runs = 1;
};

enum class CommandLine : unsigned char { kRun, kHelp, kWrong };

// If the command line is wrong, prints the reason to standard error and returns kWrong.
CommandLine parse_run_options(int argc, char** argv, RunOptions& options);

}  // namespace vitrine::tools
