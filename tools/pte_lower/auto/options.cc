#include "tools/pte_lower/auto/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "runtime/core/parse_real.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};
constexpr Suffix kByteSuffixes[] = {{"KiB", 1024},
                                    {"MiB", 1024.0 * 1024},
                                    {"GiB", 1073741824.0},
                                    {"kB", 1e3},
                                    {"MB", 1e6},
                                    {"GB", 1e9},
                                    {"", 1}};
constexpr Suffix kDbSuffixes[] = {{"dB", 1}};
constexpr Suffix kMsSuffixes[] = {{"ms", 1}, {"", 1}};
constexpr Suffix kScoreSuffixes[] = {{"", 1}};

double parse_bound(const char* option, std::string_view text, std::span<const Suffix> suffixes,
                   const char* example) {
  for (const Suffix& suffix : suffixes) {
    if (!text.ends_with(suffix.text)) continue;
    double number = 0;
    const std::string_view digits = text.substr(0, text.size() - suffix.text.size());
    if (!parse_real(digits, number) || !std::isfinite(number)) break;
    return number * suffix.factor;
  }
  throw ToolError(fmt::format("{} {}: expected {}", option, text, example));
}

double positive_bound(const char* option, std::string_view text, std::span<const Suffix> suffixes,
                      const char* example) {
  const double bound = parse_bound(option, text, suffixes, example);
  if (bound <= 0) throw ToolError(fmt::format("{} {}: must be above 0", option, text));
  return bound;
}

// Removes the options that --quantize auto replaces, and their values.
std::vector<std::string> without_search(const std::vector<std::string>& arguments) {
  constexpr std::string_view kReplaced[] = {"--quantize",      "--calibrate",     "--at_least",
                                            "--at_most_bytes", "--at_most_ms",    "--accuracy",
                                            "--samples",       "--search_report", "--device_times"};
  std::vector<std::string> kept;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t equals = arguments[i].find('=');
    std::string name = arguments[i].substr(0, equals);
    if (name.size() > 2) std::replace(name.begin() + 2, name.end(), '-', '_');
    if (std::ranges::find(kReplaced, name) == std::end(kReplaced)) {
      kept.push_back(arguments[i]);
    } else if (equals == std::string::npos) {
      ++i;
    }
  }
  return kept;
}

}  // namespace

void add_auto_options(CLI::App& app, AutoTexts& texts) {
  app.add_option("--at_least", texts.at_least,
                 "auto: find the smallest program with at least this SQNR or score")
      ->type_name("35dB|SCORE");
  app.add_option("--at_most_bytes", texts.at_most_bytes,
                 "auto: find the most accurate program of at most this size, such as 2MB")
      ->type_name("SIZE");
  app.add_option("--at_most_ms", texts.at_most_ms,
                 "auto: find the most accurate program within this time on this machine")
      ->type_name("MS");
  app.add_option("--device_times", texts.device_times,
                 "auto: use times from FILE, a device's profile with all parts in SCHEME")
      ->allow_extra_args(false)
      ->type_name("SCHEME=FILE");
  app.add_option("--accuracy", texts.accuracy,
                 "auto: command that takes the path of a program and prints a score")
      ->type_name("CMD");
  app.add_option("--samples", texts.samples,
                 "auto: number of calibration samples to measure with (default: 32)")
      ->check(vitrine::tools::at_least(1))
      ->type_name("N");
  app.add_option("--search_report", texts.report,
                 "auto: write the tables and curves to a page (.html) or a JSON file")
      ->type_name("FILE");
}

bool has_auto_options(const AutoTexts& texts) {
  return !texts.at_least.empty() || !texts.at_most_bytes.empty() || !texts.at_most_ms.empty() ||
         !texts.accuracy.empty() || !texts.report.empty() || texts.samples != 0 ||
         !texts.device_times.empty();
}

AutoOptions parse_auto_options(const AutoTexts& texts, const std::vector<std::string>& arguments) {
  using Unit = AutoOptions::Unit;
  const size_t bounds = static_cast<size_t>(!texts.at_least.empty()) +
                        static_cast<size_t>(!texts.at_most_bytes.empty()) +
                        static_cast<size_t>(!texts.at_most_ms.empty());
  if (bounds != 1) {
    throw ToolError(
        "--quantize auto needs one bound: --at_least 35dB, --at_most_bytes 2MB or --at_most_ms "
        "3.5");
  }
  AutoOptions options;
  options.samples = texts.samples == 0 ? kDefaultSamples : texts.samples;
  options.accuracy = texts.accuracy;
  options.report = texts.report;
  options.device_times = texts.device_times;
  options.arguments = without_search(arguments);
  if (!texts.at_least.empty()) {
    options.goal.kind = Goal::Kind::kAtLeastQuality;
    options.unit = texts.accuracy.empty() ? Unit::kDecibels : Unit::kScore;
    options.goal.bound = texts.accuracy.empty()
                             ? parse_bound("--at_least", texts.at_least, kDbSuffixes,
                                           "decibels, such as 35dB; a score needs --accuracy")
                             : parse_bound("--at_least", texts.at_least, kScoreSuffixes,
                                           "a score without a unit, such as 0.97");
    return options;
  }
  options.goal.kind = Goal::Kind::kAtMostCost;
  if (!texts.at_most_bytes.empty()) {
    options.unit = Unit::kBytes;
    options.goal.bound = positive_bound("--at_most_bytes", texts.at_most_bytes, kByteSuffixes,
                                        "a size, such as 500kB, 2MB or 1.5MiB");
  } else {
    options.unit = Unit::kMilliseconds;
    options.goal.bound =
        positive_bound("--at_most_ms", texts.at_most_ms, kMsSuffixes, "milliseconds, such as 3.5");
  }
  return options;
}

}  // namespace vitrine::tools
