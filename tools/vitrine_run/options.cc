#include "tools/vitrine_run/options.h"

#include <charconv>
#include <cstdio>
#include <string_view>

#include "tools/common/edit_distance.h"
#include "vitrine/version.h"

namespace vitrine::tools {
namespace {

constexpr const char* kHelp =
    "Runs a method of an ExecuTorch program. To profile, compare or verify, use executor_runner.\n"
    "Usage: vitrine_run [OPTIONS] model.pte\n"
    "\n"
    "Options:\n"
    "  -h,--help                      print this help and exit\n"
    "  --version                      print the version and exit\n"
    "  --method,--method_name NAME    method to run (default: forward)\n"
    "  --inputs A B ...               one value per input: a number, or a file with a raw\n"
    "                                 row-major tensor: a.bin, or a.bin:2x16 to set its shape;\n"
    "                                 missing tensors are zero\n"
    "  --data,--data_path A ...       external weights (.ptd)\n"
    "  --output_file BASE             write outputs to BASE-0.bin, ...\n"
    "  --threads,--cpu_threads N      number of threads (default, 0 or -1: the performance cores)\n"
    "  --executions,--num_executions N\n"
    "                                 number of runs; prints the fastest and the median time\n"
    "                                 (default: 1)\n"
    "\n"
    "Exit status:\n"
    "  0   success\n"
    "  1   failure: a file cannot be used, or an execution failed\n"
    "  64  the command line is wrong\n";

constexpr const char* kVersion =
    "vitrine " VITRINE_VERSION "\ncommit " VITRINE_COMMIT " of " VITRINE_COMMIT_DATE
    "\nXNNPACK " VITRINE_XNNPACK_COMMIT "\n";

struct Option {
  std::string_view name, alias;
  std::string RunOptions::*text = nullptr;
  std::vector<std::string> RunOptions::*list = nullptr;
  size_t RunOptions::*number = nullptr;
};
constexpr Option kOptions[] = {
    {"--method", "--method_name", &RunOptions::method},
    {"--output_file", "--output-file", &RunOptions::output_file},
    {"--inputs", "", nullptr, &RunOptions::inputs},
    {"--data", "--data_path", nullptr, &RunOptions::data},
    {"--threads", "--cpu_threads", nullptr, nullptr, &RunOptions::threads},
    {"--executions", "--num_executions", nullptr, nullptr, &RunOptions::runs},
};

CommandLine wrong(std::string_view argument, const char* why) {
  std::fprintf(stderr, "vitrine_run: error: %.*s: %s; --help lists the options\n",
               static_cast<int>(argument.size()), argument.data(), why);
  return CommandLine::kWrong;
}

CommandLine unknown_option(std::string_view argument) {
  std::vector<std::string_view> names = {"--help", "--version"};
  for (const Option& option : kOptions) names.insert(names.end(), {option.name, option.alias});
  const std::string nearest(nearest_word(names, argument));
  if (nearest.empty()) return wrong(argument, "unknown option");
  return wrong(argument, ("unknown option; did you mean " + nearest + "?").c_str());
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
    if (argument == "--version") {
      std::fputs(kVersion, stdout);
      return CommandLine::kHelp;
    }
    if (!argument.starts_with('-')) {
      if (!options.model.empty()) return wrong(argument, "only one program can be given");
      options.model = argument;
      continue;
    }
    const Option* option = nullptr;
    for (const Option& known : kOptions) {
      if (known.name == argument || known.alias == argument) option = &known;
    }
    if (option == nullptr) return unknown_option(argument);
    if (i + 1 == argc) return wrong(argument, "needs a value");
    if (option->text != nullptr) options.*option->text = argv[++i];
    if (option->number != nullptr) {
      const std::string_view number = argv[++i];
      const bool is_default = number == "-1" && option->number == &RunOptions::threads;
      if (!is_default && !parse_number(number, options.*option->number)) {
        return wrong(number, "expected a number");
      }
    }
    if (option->list == nullptr) continue;
    // The values end at the next argument that starts with two dashes. A value may be a negative
    // number.
    while (i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--")) {
      (options.*option->list).emplace_back(argv[++i]);
    }
  }
  if (options.model.empty()) return wrong("model.pte", "no program was given");
  if (options.runs == 0) return wrong("--num_executions", "expected 1 or more");
  return CommandLine::kRun;
}

}  // namespace vitrine::tools
