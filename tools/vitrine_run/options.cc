#include "tools/vitrine_run/options.h"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace vitrine::tools {
namespace {

constexpr const char* kHelp =
    "Runs a method of an ExecuTorch program.\n"
    "executor_runner profiles, compares and verifies.\n"
    "Usage: vitrine_run [OPTIONS] model.pte\n"
    "\n"
    "Options:\n"
    "  -h,--help           print this help and exit\n"
    "  --method NAME       which method (forward)\n"
    "  --inputs A B ...    a file of row-major bytes for each, a.bin or a.bin:2x16 with sizes,\n"
    "                      or a number; inputs that are not given are zero\n"
    "  --data_path A ...   .ptd files\n"
    "  --output_file BASE  writes output i to BASE-i.bin\n"
    "  --cpu_threads N     this thread included (as many as there are performing cores)\n"
    "  --num_executions N  prints the fastest and the median time of N runs (1)\n";

struct Option {
  std::string_view name;
  std::string RunOptions::*text = nullptr;
  std::vector<std::string> RunOptions::*list = nullptr;
  size_t RunOptions::*number = nullptr;
};
constexpr Option kOptions[] = {
    {"--method", &RunOptions::method},
    {"--output_file", &RunOptions::output_file},
    {"--inputs", nullptr, &RunOptions::inputs},
    {"--data_path", nullptr, &RunOptions::data},
    {"--cpu_threads", nullptr, nullptr, &RunOptions::threads},
    {"--num_executions", nullptr, nullptr, &RunOptions::runs},
};

CommandLine wrong(std::string_view argument, const char* why) {
  std::fprintf(stderr, "vitrine_run: %.*s: %s; --help lists the options\n",
               static_cast<int>(argument.size()), argument.data(), why);
  return CommandLine::kWrong;
}

bool parse_number(std::string_view text, size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

CommandLine parse_run_options(int argc, char** argv, RunOptions& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::fputs(kHelp, stdout);
      return CommandLine::kHelp;
    }
    if (!argument.starts_with('-')) {
      if (!options.model.empty()) return wrong(argument, "a second program");
      options.model = argument;
      continue;
    }
    const Option* option = nullptr;
    for (const Option& known : kOptions) {
      if (known.name == argument) option = &known;
    }
    if (option == nullptr) return wrong(argument, "no such option");
    if (i + 1 == argc) return wrong(argument, "lacks its value");
    if (option->text != nullptr) options.*option->text = argv[++i];
    if (option->number != nullptr && !parse_number(argv[++i], options.*option->number)) {
      return wrong(argv[i], "not a number");
    }
    if (option->list == nullptr) continue;
    // A number may be negative.
    while (i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--")) {
      (options.*option->list).emplace_back(argv[++i]);
    }
  }
  if (options.model.empty()) return wrong("model.pte", "is missing");
  if (options.runs == 0) return wrong("--num_executions", "at least 1");
  return CommandLine::kRun;
}

}  // namespace vitrine::tools
