#include "tools/pte_lower/auto/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/text/number_texts.h"
#include "base/text/text_table.h"
#include "inspector/report/report_precisions_html.h"
#include "tools/common/profile_report.h"
#include "tools/common/shell_word.h"
#include "tools/pte_lower/auto/measure.h"

namespace vitrine::tools {
namespace {

using Unit = AutoOptions::Unit;
using inspector::TextTable;

std::string db_text(double noise) {
  return noise == 0 ? "exact" : fmt::format("{:.1f}", decibels(noise));
}

// Returns the SQNR in dB, or null if the outputs are equal or not finite.
nlohmann::ordered_json db_json(double noise) {
  const double db = decibels(noise);
  return std::isfinite(db) ? nlohmann::ordered_json(db) : nlohmann::ordered_json(nullptr);
}

const char* unit_text(Unit unit) {
  switch (unit) {
    case Unit::kDecibels:
      return "dB";
    case Unit::kScore:
      return "score";
    case Unit::kBytes:
      return "bytes";
    case Unit::kMilliseconds:
      return "ms";
  }
  return "";
}

// Describes the bound: "at least 35 dB".
std::string bound_text(const AutoOptions& options) {
  const bool is_quality = options.goal.kind == Goal::Kind::kAtLeastQuality;
  return fmt::format("{} {:.10g} {}", is_quality ? "at least" : "at most", options.goal.bound,
                     unit_text(options.unit));
}

std::string interval_text(const Interval& ms) {
  return fmt::format("{:.3g} to {:.3g}", ms.low, ms.high);
}

std::string table_text(const TextTable& table) {
  return table.text(table_options({}).width, false);
}

std::string chosen_scheme(const AutoPart& part) {
  return part.chosen == 0 ? "float" : part.levels[part.chosen - 1].scheme;
}

std::string parts_text(const AutoResult& result) {
  TextTable table;
  table.add_column("part", TextTable::Kind::kPath);
  table.add_column("precision", TextTable::Kind::kName);
  table.add_column("measured", TextTable::Kind::kName);
  table.add_column("dB alone", TextTable::Kind::kFigure);
  table.add_column("ms saved", TextTable::Kind::kFigure);
  table.add_column("bytes saved", TextTable::Kind::kFigure);
  for (const AutoPart& part : result.parts) {
    for (const AutoLevel& level : part.levels) {
      const bool is_first = &level == &part.levels.front();
      table.add_row({is_first ? part.name : "", is_first ? chosen_scheme(part) : "", level.scheme,
                     db_text(level.noise),
                     level.saved_ms == 0 ? "~0" : fmt::format("{:.2g}", level.saved_ms),
                     fmt::format("{:.0f}", level.saved_bytes)});
    }
  }
  return table_text(table);
}

std::string programs_text(const char* title, const std::vector<AutoProgram>& programs,
                          bool is_measured) {
  TextTable table;
  table.add_column(title, TextTable::Kind::kName);
  table.add_column("dB", TextTable::Kind::kFigure);
  table.add_column("score", TextTable::Kind::kFigure);
  table.add_column("ms", TextTable::Kind::kFigure);
  table.add_column("ms again", TextTable::Kind::kFigure);
  table.add_column("bytes", TextTable::Kind::kFigure);
  for (const AutoProgram& program : programs) {
    table.add_row({program.name, db_text(program.noise),
                   program.score ? fmt::format("{:g}", *program.score) : "",
                   fmt::format("{:.4g}", program.ms.median),
                   is_measured ? interval_text(program.ms.repeated) : "",
                   std::to_string(program.bytes)});
  }
  return table_text(table);
}

nlohmann::ordered_json programs_json(const std::vector<AutoProgram>& programs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const AutoProgram& program : programs) {
    nlohmann::ordered_json each = {{"name", program.name},
                                   {"db", db_json(program.noise)},
                                   {"is_exact", program.noise == 0},
                                   {"bytes", program.bytes}};
    if (program.score) each["score"] = *program.score;
    each["ms"] = program.ms.median;
    each["ms_repeated"] = {program.ms.repeated.low, program.ms.repeated.high};
    all.push_back(std::move(each));
  }
  return all;
}

}  // namespace

std::string auto_command(const AutoResult& result, const AutoOptions& options) {
  std::string command = "pte_lower";
  for (const std::string& argument : options.arguments) command += ' ' + shell_word(argument);
  if (result.quantize.empty()) return command;
  command += " --quantize " + result.quantize;
  for (const std::string& calibration : options.calibrate) {
    if (result.quantize == "float") break;  // these schemes need no data
    command += " --calibrate " + shell_word(calibration);
  }
  for (const std::string& rule : result.keep) command += " --keep " + shell_word(rule);
  return command;
}

std::string auto_tables(const AutoResult& result) {
  std::string text = parts_text(result);
  text += fmt::format(
      "Each row compares the float program with one in which only that part has the measured "
      "scheme, over {}. ~0: the difference in time is within the noise.\n",
      inspector::counted(result.samples, "sample"));
  const bool is_measured = result.device.empty();
  if (!is_measured) {
    text += fmt::format("Times come from the profiles of {}; no program ran on the device.\n",
                        result.device);
  }
  if (!result.steps.empty()) text += '\n' + programs_text("parts", result.steps, is_measured);
  if (!result.results.empty()) text += '\n' + programs_text("program", result.results, is_measured);
  if (!result.steps.empty() && is_measured) {
    text += "ms again: with a probability of 90 %, another measurement is in this range.\n";
  }
  return text;
}

std::string auto_text(const AutoResult& result, const AutoOptions& options) {
  std::string text = auto_tables(result);
  if (result.steps.empty()) return text;
  text += '\n';
  if (result.quantize.empty() && result.is_met) {
    text += "All parts stay float: no measured program within the bound is better.\n";
  }
  if (options.unit == Unit::kMilliseconds && result.device.empty()) {
    text += "The choice depends on times, and may differ in the next run.\n";
  }
  return text +
         fmt::format("To lower the {} program without a search:\n",
                     result.is_met ? "chosen" : "best measured") +
         auto_command(result, options) + '\n';
}

nlohmann::ordered_json auto_json(const AutoResult& result, const AutoOptions& options) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const AutoPart& part : result.parts) {
    nlohmann::ordered_json levels = nlohmann::ordered_json::array();
    for (const AutoLevel& level : part.levels) {
      levels.push_back({{"scheme", level.scheme},
                        {"db_alone", db_json(level.noise)},
                        {"is_exact", level.noise == 0},
                        {"ms_saved", level.saved_ms},
                        {"bytes_saved", level.saved_bytes}});
    }
    parts.push_back({{"name", part.name}, {"chosen", chosen_scheme(part)}, {"levels", levels}});
  }
  nlohmann::ordered_json all = {{"bound", bound_text(options)},
                                {"unit", unit_text(options.unit)},
                                {"limit", options.goal.bound},
                                {"keeps_bound", result.is_met},
                                {"is_certain", result.is_certain},
                                {"interrupted", result.is_interrupted},
                                {"samples", result.samples},
                                {"device", result.device},
                                {"parts", parts},
                                {"steps", programs_json(result.steps)},
                                {"results", programs_json(result.results)},
                                {"quantize", result.quantize},
                                {"keep", result.keep}};
  if (!options.arguments.empty()) all["command"] = auto_command(result, options);
  return all;
}

std::string auto_report(const AutoResult& result, const AutoOptions& options) {
  const std::string json =
      auto_json(result, options)
          .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
      '\n';
  const bool is_page = options.report.extension() == ".html";
  return is_page ? inspector::report_precisions_html(json) : json;
}

std::string auto_doubt(const AutoResult& result, const AutoOptions& options) {
  if (!result.is_met || result.is_certain || result.results.empty()) return "";
  const Milliseconds& ms = result.results.back().ms;
  if (!result.device.empty()) {
    return fmt::format(
        "it is not certain that the chosen program meets the bound on {}: its time, {:.4g} ms, was "
        "computed from profiles of other programs. Profile the program on the device",
        result.device, ms.median);
  }
  return fmt::format(
      "it is not certain that the chosen program meets the bound: it took {:.4g} ms, and another "
      "run is expected to take {} ms, but the bound is {:g} ms. Measure again on an idle machine, "
      "or lower the bound",
      ms.median, interval_text(ms.repeated), options.goal.bound);
}

std::string auto_failure(const AutoResult& result, const AutoOptions& options) {
  if (result.is_interrupted) {
    return result.steps.empty() ? "interrupted while the parts were measured" : "interrupted";
  }
  const AutoProgram& best = result.results.back();
  const double bound = options.goal.bound;
  switch (options.unit) {
    case Unit::kDecibels:
      return fmt::format("the best program has {} dB, below {:g} dB", db_text(best.noise), bound);
    case Unit::kScore:
      return fmt::format("the best program has the score {:g}, below {:g}", best.score.value_or(0),
                         bound);
    case Unit::kBytes:
      return fmt::format("the smallest program has {} bytes, more than {:.0f}", best.bytes, bound);
    case Unit::kMilliseconds:
      return fmt::format("the best program takes {:.4g} ms, more than {:g} ms", best.ms.median,
                         bound);
  }
  return "";
}

}  // namespace vitrine::tools
