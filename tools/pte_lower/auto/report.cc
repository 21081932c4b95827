#include "tools/pte_lower/auto/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/number_texts.h"
#include "base/text/text_table.h"
#include "tools/common/profile_report.h"
#include "tools/common/shell_word.h"
#include "tools/pte_lower/auto/accuracy.h"
#include "tools/pte_lower/auto/measure.h"

namespace vitrine::tools {
namespace {

using Unit = AutoOptions::Unit;
using inspector::TextTable;

std::string db_text(double noise) {
  return noise == 0 ? "exact" : fmt::format("{:.1f}", decibels(noise));
}

nlohmann::json db_json(double noise) {
  const double db = decibels(noise);
  return std::isfinite(db) ? nlohmann::json(db) : nlohmann::json(nullptr);
}

std::string ms_text(double ms) { return ms == 0 ? "" : fmt::format("{:.4f}", ms); }

std::string table_text(const TextTable& table) {
  return table.text(table_options({}).width, false);
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
    table.add_row({part.figures.name, part.is_quantized ? part.scheme : "float", part.scheme,
                   db_text(part.figures.noise), fmt::format("{:.4f}", part.saved_ms),
                   fmt::format("{:.0f}", part.saved_bytes)});
  }
  return table_text(table);
}

std::string programs_text(const char* title, const std::vector<AutoProgram>& programs) {
  TextTable table;
  table.add_column(title, TextTable::Kind::kName);
  table.add_column("dB", TextTable::Kind::kFigure);
  table.add_column("score", TextTable::Kind::kFigure);
  table.add_column("ms", TextTable::Kind::kFigure);
  table.add_column("bytes", TextTable::Kind::kFigure);
  for (const AutoProgram& program : programs) {
    table.add_row({program.name, db_text(program.noise),
                   program.score ? fmt::format("{:g}", *program.score) : "", ms_text(program.ms),
                   std::to_string(program.bytes)});
  }
  return table_text(table);
}

nlohmann::json programs_json(const std::vector<AutoProgram>& programs) {
  nlohmann::json all = nlohmann::json::array();
  for (const AutoProgram& program : programs) {
    nlohmann::json each = {
        {"name", program.name}, {"db", db_json(program.noise)}, {"bytes", program.bytes}};
    if (program.score) each["score"] = *program.score;
    if (program.ms != 0) each["ms"] = program.ms;
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
    command += " --calibrate " + shell_word(calibration);
  }
  for (const std::string& rule : result.keep) command += " --keep " + shell_word(rule);
  return command;
}

std::string auto_text(const AutoResult& result, const AutoOptions& options) {
  std::string text = parts_text(result);
  text += fmt::format(
      "Figures are those of the part alone in the measured scheme, against the float program, over "
      "{}. Times are noisy.\n\n",
      inspector::counted(result.samples, "sample"));
  text += programs_text("parts", result.steps) + '\n';
  text += programs_text("program", result.results) + '\n';
  if (result.quantize.empty() && result.is_met) {
    text += "All parts stay float: no measured program that keeps the bound is better.\n";
  }
  if (options.unit == Unit::kMilliseconds) {
    text += "The choice depends on times, and may differ in the next run. ";
  }
  return text + "The chosen program without a search:\n" + auto_command(result, options) + '\n';
}

std::string auto_json(const AutoResult& result, const AutoOptions& options) {
  nlohmann::json parts = nlohmann::json::array();
  for (const AutoPart& part : result.parts) {
    parts.push_back({{"name", part.figures.name},
                     {"scheme", part.scheme},
                     {"quantized", part.is_quantized},
                     {"db_alone", db_json(part.figures.noise)},
                     {"ms_saved", part.saved_ms},
                     {"bytes_saved", part.saved_bytes}});
  }
  const nlohmann::json all = {{"keeps_bound", result.is_met},
                              {"samples", result.samples},
                              {"parts", parts},
                              {"steps", programs_json(result.steps)},
                              {"results", programs_json(result.results)},
                              {"command", auto_command(result, options)}};
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

std::string auto_failure(const AutoResult& result, const AutoOptions& options) {
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
      return fmt::format("the best program takes {:.4f} ms, more than {:g} ms", best.ms, bound);
  }
  return "";
}

}  // namespace vitrine::tools
