#include "tools/common/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/host_error.h"
#include "base/text/text_layout.h"
#include "tools/common/edit_distance.h"
#include "tools/common/files.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/provenance.h"

namespace vitrine::tools {
namespace {

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Accepts '-' for '_' and '_' for '-' in names of options.
void respell_options(const CLI::App& app, std::vector<std::string>& arguments) {
  for (std::string& argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--")) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (app.get_option_no_throw(name) != nullptr) continue;
    for (const auto& [from, to] : {std::pair('-', '_'), std::pair('_', '-')}) {
      std::string other = name;
      std::replace(other.begin() + 2, other.end(), from, to);
      if (app.get_option_no_throw(other) != nullptr) argument.replace(0, name.size(), other);
    }
  }
}

// Returns an error about arguments that are neither options nor expected files. Empty if all
// arguments are known.
std::string unknown_arguments(const CLI::App& app) {
  std::vector<std::string> texts;
  const std::vector<std::string> names = long_names(app);
  for (const std::string& given : app.remaining()) {
    if (!given.starts_with('-') || given.size() == 1) continue;
    const std::string unknown = given.substr(0, given.find('='));
    const std::string_view nearest = nearest_word(names, unknown);
    texts.push_back(nearest.empty()
                        ? fmt::format("{} is unknown", unknown)
                        : fmt::format("{} is unknown; did you mean {}?", unknown, nearest));
  }
  if (!texts.empty() || app.remaining().empty()) return fmt::format("{}", fmt::join(texts, "\n"));
  const bool has_lists = std::ranges::any_of(
      app.get_options(), [](const CLI::Option* option) { return option->get_delimiter() == ','; });
  return fmt::format("{}: unexpected argument{}", app.remaining().front(),
                     has_lists ? "; separate the files of one option by commas: a.bin,b.bin" : "");
}

constexpr size_t kHelpWidth = 100;

constexpr const char* kExitStatus =
    "Exit status:\n"
    "  0   success\n"
    "  1   failure: a file cannot be used, an execution failed, or a check failed\n"
    "  2   a result violates a limit, such as --fail_above\n"
    "  64  the command line is wrong";

// Later CLI11 versions have a help layout that joins paragraphs and rewraps lines.
template <class Formatter>
void keep_layout(Formatter& formatter) {
  if constexpr (requires { formatter.enable_description_formatting(false); }) {
    constexpr size_t kIndentation = 2;
    formatter.enable_description_formatting(false);
    formatter.right_column_width(SIZE_MAX);
    formatter.long_option_alignment_ratio(static_cast<float>(kIndentation) /
                                          static_cast<float>(formatter.get_column_width()));
  }
}

// Writes options as "--names TYPE", with the default in the description, in lines of at most
// kHelpWidth columns. CLI11 adds notes such as "REQUIRED" and "{value}", and does not break lines.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const size_t column = get_column_width();
    std::string start = "  " + without_braces(option->get_name(is_positional, !is_positional)) +
                        make_option_opts(option);
    std::string text;
    if (start.size() >= column) {
      text = start + '\n';
      start.clear();
    }
    std::string description = option->get_description();
    if (!option->get_default_str().empty() && option->get_type_size() != 0) {
      description += fmt::format(" (default: {})", option->get_default_str());
    }
    for (size_t at = 0; at <= description.size();) {
      const size_t end = std::min(description.find('\n', at), description.size());
      text += inspector::wrap_words(inspector::align_left(start, column),
                                    std::string_view(description).substr(at, end - at), kHelpWidth);
      start.clear();
      at = end + 1;
    }
    return text;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    static const std::map<std::string, std::string> kTypes = {
        {"INT", "N"}, {"UINT", "N"}, {"FLOAT", "X"}};
    if (option->get_type_size() == 0) return "";
    const std::string type = option->get_type_name();
    const auto found = kTypes.find(type);
    return ' ' + (found == kTypes.end() ? type : found->second);
  }

 private:
  // "--explain{reasons}" -> "--explain"
  static std::string without_braces(std::string names) {
    for (size_t open; (open = names.find('{')) != std::string::npos;) {
      names.erase(open, names.find('}', open) - open + 1);
    }
    return names;
  }
};

// Returns a validator that accepts the numbers for which `fits` returns true. CLI11 rejects texts
// that are not numbers.
template <class Fits>
CLI::Validator number_check(Fits fits, const std::string& expected) {
  return {[fits, expected](std::string& text) {
            char* end = nullptr;
            const double number = std::strtod(text.c_str(), &end);
            if (end == text.c_str() || *end != '\0' || fits(number)) return std::string();
            return fmt::format("{}: expected {}", text, expected);
          },
          ""};
}

}  // namespace

CLI::Validator at_least(int min) {
  return number_check([min](double number) { return number >= min; },
                      fmt::format("{} or more", min));
}

CLI::Validator between(int min, int max) {
  return number_check([=](double number) { return number >= min && number <= max; },
                      fmt::format("{} to {}", min, max));
}

CLI::Validator positive() {
  return number_check([](double number) { return number > 0 && std::isfinite(number); },
                      "a number above 0");
}

bool parse_command_line(CLI::App& app, int argc, char** argv, const std::function<void()>& check,
                        int* exit_code) {
  return parse_command_line(app, std::vector<std::string>(argv + 1, argv + argc), check, exit_code);
}

bool parse_command_line(CLI::App& app, std::vector<std::string> arguments,
                        const std::function<void()>& check, int* exit_code) {
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  formatter->column_width(app.get_formatter()->get_column_width());
  keep_layout(*formatter);
  app.formatter(formatter);
  if (!program_name().empty()) app.name(program_name());
  app.set_version_flag("--version", version_text(), "print the version and exit");
  app.footer(kExitStatus);
  std::string message;
  try {
    respell_options(app, arguments);
    std::ranges::reverse(arguments);  // CLI::App::parse() expects the last argument first
    app.parse(std::move(arguments));
    check();
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help or --version
      *exit_code = app.exit(error);
      return false;
    }
    message = unknown_arguments(app);
    if (message.empty()) message = error.what();
  } catch (const HostError& error) {
    message = error.what();
  }
  print_error(message);
  print_text(stderr, fmt::format("'{} --help' explains the options\n", app.get_name()));
  *exit_code = kExitUsage;
  return false;
}

int run_tool(const char* name, const std::function<int()>& run) try {
  if (program_name().empty()) set_program_name(name);
  const int exit_code = run();
  flush_standard_output();
  if (stop_flag()) {  // the report covers the runs before Ctrl-C
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  return exit_code;
} catch (const std::exception& error) {
  std::fflush(stdout);
  print_error(error.what());
  if (cancel_flag()) std::raise(SIGINT);  // the signal also ends a shell script
  return kExitFailed;
}

void add_threads(const OptionGroup& group, int& threads) {
  group
      .add_option("--threads,--cpu_threads", threads,
                  "number of threads (default, 0 or -1: the performance cores)")
      ->check(between(kDefaultThreads, kMaxThreads))
      ->type_name("N");
}

CLI::Option* show_choices(CLI::Option* option, const std::set<std::string>& names) {
  return option->type_name(fmt::format("{}", fmt::join(names, "|")));
}

CLI::Option* as_files(CLI::Option* option) {
  return option->delimiter(',')->allow_extra_args(false)->type_name("FILES");
}

}  // namespace vitrine::tools
