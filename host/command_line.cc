#include "host/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/files.h"

namespace vitrine::tools {
namespace {

// Letters to insert, remove or replace (Levenshtein's).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Empty if none is near.
std::string nearest_option(const CLI::App& app, std::string_view unknown) {
  std::string nearest;
  size_t least = std::max<size_t>(2, unknown.size() / 3) + 1;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const size_t distance = edit_distance(unknown, "--" + name);
      if (distance >= least) continue;
      least = distance;
      nearest = "--" + name;
    }
  }
  return nearest;
}

std::string hints(const CLI::App& app) {
  std::string text;
  for (const std::string& given : app.remaining()) {
    if (!given.starts_with("--")) continue;
    const std::string unknown = given.substr(0, given.find('='));
    const std::string nearest = nearest_option(app, unknown);
    if (!nearest.empty())
      text += fmt::format("\n{} is unknown; did you mean {}?", unknown, nearest);
  }
  return text;
}

// Later versions of CLI11 would make one paragraph of a description and its examples, break lines
// anew and start long options in the middle of their column.
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

// `fits` of the option's value. The conversion refuses texts that are not numbers.
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

CLI::Validator at_least(int least) {
  return number_check([least](double number) { return number >= least; },
                      fmt::format("{} or more", least));
}

CLI::Validator positive() {
  return number_check([](double number) { return number > 0 && std::isfinite(number); },
                      "a number above 0");
}

bool parse_command_line(CLI::App& app, int argc, char** argv, const std::function<void()>& check,
                        int* exit_code) {
  keep_layout(*app.get_formatter());
  try {
    app.parse(argc, argv);
    check();
    return true;
  } catch (const CLI::ParseError& error) {
    const std::string hint = error.get_exit_code() == 0 ? "" : hints(app);
    *exit_code = hint.empty()
                     ? app.exit(error)
                     : app.exit(CLI::ExtrasError(error.what() + hint, error.get_exit_code()));
    return false;
  }
}

int run_tool(const char* name, const std::function<int()>& run) try {
  const int exit_code = run();
  flush_standard_output();
  return exit_code;
} catch (const std::exception& error) {
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", name, error.what());
  return 1;
}

CLI::Option* as_files(CLI::Option* option) {
  return option->delimiter(',')->allow_extra_args(false)->type_name("FILES");
}

}  // namespace vitrine::tools
