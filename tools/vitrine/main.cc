// vitrine has the tools as subcommands. If argv[0] names a tool, such as a link pte_lower, vitrine
// runs that tool.
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/advise/command.h"
#include "tools/common/command_line.h"
#include "tools/common/edit_distance.h"
#include "tools/common/files.h"
#include "tools/common/messages.h"
#include "tools/common/profile_report.h"
#include "tools/common/provenance.h"
#include "tools/common/session.h"
#include "tools/pte_inspect/page_graph.h"
#include "tools/pte_lower/lower_in_memory.h"
#include "tools/vitrine/commands.h"
#include "tools/vitrine/comparing.h"
#include "tools/vitrine/stripping.h"

namespace vitrine::tools {
namespace {

using Main = int (*)(int argc, char** argv);

struct ToolName {
  std::string_view name;
  Main run;
};
constexpr std::array<ToolName, 4> kTools = {{{"executor_runner", executor_runner},
                                             {"llm_runner", llm_runner},
                                             {"pte_inspect", pte_inspect},
                                             {"pte_lower", pte_lower}}};

// Runs llm_runner with --chat, unless an argument selects another task.
int chat(int argc, char** argv) {
  constexpr std::array<std::string_view, 11> kTasks = {
      "--prompt",  "--random_prompt", "--chat", "--perplexity", "--numerics", "--compare",
      "--encoder", "--help",          "-h",     "--version",    "--legend"};
  std::vector<char*> arguments(argv, argv + argc);
  const bool has_task = std::ranges::any_of(arguments, [&](std::string_view argument) {
    return std::ranges::any_of(kTasks,
                               [&](std::string_view task) { return argument.starts_with(task); });
  });
  static char option[] = "--chat";
  if (!has_task) arguments.push_back(option);
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return llm_runner(count, arguments.data());
}

struct Command {
  std::string_view name;
  std::string_view about;
  Main run;
  const char* first_argument = nullptr;  // an option to insert before the user's options
};
constexpr std::array<Command, 9> kCommands = {
    {{"run", "run a program, or an exported model", executor_runner},
     {"profile", "show where the time of a program goes", executor_runner, "--profile"},
     {"compare", "compare the times or values of two programs, or two stored profiles", compare},
     {"advise", "show which changes save time or memory, try them, and apply them", advise},
     {"verify", "compare the outputs of a program with expected ones", executor_runner, "--verify"},
     {"lower", "lower an exported model (.pt2, .ptn) to a program (.pte)", pte_lower},
     {"strip", "remove from a program the names that only profiles need", strip},
     {"inspect", "describe, check and draw files of every kind", pte_inspect},
     {"chat", "chat with a language model, continue a --prompt, or measure its --perplexity",
      chat}}};

std::string help() {
  std::string text =
      "Runs, profiles, compares and lowers programs for on-device inference.\n"
      "  vitrine profile model.pte\n"
      "  vitrine compare old.pte new.pte --fail_above 1.1\n"
      "  vitrine lower model.pt2 --backend xnnpack -o model.pte\n"
      "Usage: vitrine COMMAND [OPTIONS] ...\n"
      "\n"
      "Commands:\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<10}{}\n", command.name, command.about);
  }
  return text +
         "\n"
         "Options:\n"
         "  -h,--help   print this help and exit; vitrine COMMAND --help explains the options\n"
         "  --version   print the version and exit\n"
         "\n"
         "Exit status:\n"
         "  0   success\n"
         "  1   failure: a file cannot be used, an execution failed, or a check failed\n"
         "  2   a result violates a limit, such as --fail_above\n"
         "  64  the command line is wrong\n";
}

int wrong_usage(const std::string& message) {
  print_error(message);
  print_text(stderr, "'vitrine --help' lists the commands\n");
  return kExitUsage;
}

int wrong_command(std::string_view given) {
  if (given.starts_with('-')) {
    return wrong_usage(fmt::format("{}: expected a command before the options", given));
  }
  std::error_code ignored;
  if (std::filesystem::exists(given, ignored)) {
    return wrong_usage(
        fmt::format("{} is a file: expected a command before it, as in 'vitrine "
                    "profile {}'",
                    given, given));
  }
  std::vector<std::string_view> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view nearest = nearest_word(names, given);
  if (nearest.empty()) return wrong_usage(fmt::format("{} is not a command", given));
  return wrong_usage(fmt::format("{} is not a command; did you mean {}?", given, nearest));
}

int run_command(const Command& command, int argc, char** argv) {
  set_program_name(fmt::format("vitrine {}", command.name));
  std::string first = command.first_argument == nullptr ? "" : command.first_argument;
  std::vector<char*> arguments = {argv[0]};
  // `vitrine profile --numerics` shows numerical errors instead of times.
  const bool is_numerics = command.name == "profile" &&
                           std::any_of(argv + 2, argv + argc, [](std::string_view argument) {
                             return argument == "--numerics";
                           });
  if (!first.empty() && !is_numerics) arguments.push_back(first.data());
  arguments.insert(arguments.end(), argv + 2, argv + argc);
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return command.run(count, arguments.data());
}

// bench needs the test programs of the source tree, so it is not installed.
int run_bench(char** argv) {
  const std::filesystem::path bench =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "bench";
  execv(bench.c_str(), argv + 1);
  print_error(fmt::format(
      "cannot run {}: {}; the benchmark suite is not installed, so build the target bench in the "
      "source tree",
      bench.string(), std::strerror(errno)));
  return kExitFailed;
}

int run(int argc, char** argv) {
  if (argc < 2) return wrong_usage("expected a command");
  const std::string_view given = argv[1];
  const auto* const command = std::ranges::find(kCommands, given, &Command::name);
  if (command != kCommands.end()) return run_command(*command, argc, argv);
  if (given == "bench") return run_bench(argv);
  if (given == "--help" || given == "-h" || given == "help") {
    print_text(stdout, help());
  } else if (given == "--version") {
    print_text(stdout, version_text() + "\n");
  } else {
    return wrong_command(given);
  }
  flush_standard_output();
  return 0;
}

}  // namespace

int vitrine_main(int argc, char** argv) {
  set_model_lowering(lower_in_memory);
  set_graph_drawing(page_graph);
  const std::string name = argc == 0 ? "" : std::filesystem::path(argv[0]).filename().string();
  const auto* const tool = std::ranges::find(kTools, name, &ToolName::name);
  if (tool != kTools.end()) return tool->run(argc, argv);
  return run_tool("vitrine", [&] { return run(argc, argv); });
}

}  // namespace vitrine::tools

int main(int argc, char** argv) { return vitrine::tools::vitrine_main(argc, argv); }
