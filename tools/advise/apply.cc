#include "tools/advise/apply.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <span>

#include "base/text/text_table.h"
#include "tools/advise/report.h"
#include "tools/advise/rows.h"
#include "tools/common/files.h"
#include "tools/common/median.h"
#include "tools/common/messages.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr double kVerifySeconds = 1.5;  // maximum per piece of advice

std::string range_text(const Interval& interval) {
  return fmt::format("{:.3f} to {:.3f}", interval.low, interval.high);
}

size_t index_of(const std::string& text, const std::vector<Advice>& advice) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) {
    if (number >= 1 && number <= advice.size()) return number - 1;
    throw ToolError(
        fmt::format("--apply {}: expected a number from 1 to {}, the number of lines of "
                    "advice",
                    text, advice.size()));
  }
  const auto found = std::ranges::find(advice, text, &Advice::name);
  if (found == advice.end()) {
    throw ToolError(fmt::format("--apply {}: no advice has this name or number", text));
  }
  return static_cast<size_t>(found - advice.begin());
}

// The program of a variant. `lowered` is empty if the variant runs the baseline's program.
struct MadeProgram {
  Variant variant;
  std::optional<LoweredProgram> lowered;

  const LoweredProgram* program() const { return lowered ? &*lowered : nullptr; }
};

MadeProgram make(const Baseline& baseline, const Variant& change) {
  MadeProgram made{.variant = merged(baseline.context().baseline, change), .lowered = {}};
  if (!change.lowering.empty()) made.lowered = baseline.lower(made.variant);
  return made;
}

void write_program(const Baseline& baseline, const MadeProgram& made,
                   const std::filesystem::path& output) {
  if (output.empty()) return;
  if (made.lowered) return write_file(output, made.lowered->bytes);
  if (!baseline.context().is_file) return write_file(output, baseline.lowered().bytes);
  print_note(fmt::format("{} was not written: the program does not change", output.string()));
}

// Returns the shell commands that make and run the program `made`.
std::string commands(const Baseline& baseline, const MadeProgram& made,
                     const std::filesystem::path& output) {
  const Context& context = baseline.context();
  const std::filesystem::path program = output.empty() ? "model.pte" : output;
  std::string text;
  if (made.lowered || !context.is_file) {
    text += lower_command(context.source, made.variant, program) + '\n';
  }
  if (!made.variant.running.empty()) {
    text += run_command(made.lowered || !context.is_file ? program : context.model, made.variant) +
            '\n';
  }
  return text;
}

struct VerifiedLine {
  std::string name;
  Interval predicted;
  Interval measured;
  double middle = 1;
  std::string outputs;
  bool is_inside() const { return predicted.contains(middle); }
};

std::string verification_text(const std::vector<VerifiedLine>& lines, size_t width) {
  inspector::TextTable table;
  table.add_column("advice", inspector::TextTable::Kind::kName);
  table.add_column("predicted ratio", inspector::TextTable::Kind::kFigure);
  table.add_column("measured", inspector::TextTable::Kind::kFigure);
  table.add_column("interval", inspector::TextTable::Kind::kFigure, 1);
  table.add_column("verdict", inspector::TextTable::Kind::kName);
  table.add_column("outputs", inspector::TextTable::Kind::kName);
  for (const VerifiedLine& line : lines) {
    table.add_row({line.name, range_text(line.predicted), fmt::format("{:.3f}", line.middle),
                   range_text(line.measured),
                   line.is_inside()                   ? "as predicted"
                   : line.middle < line.predicted.low ? "faster"
                                                      : "slower",
                   line.outputs});
  }
  return table.text(width, false);
}

VerifiedLine measure(Baseline& baseline, const MadeProgram& made, std::string name,
                     Interval predicted, double seconds) {
  const TrialResult trial = baseline.compare(made.variant, made.program(), seconds);
  return {.name = std::move(name),
          .predicted = predicted,
          .measured = trial.ratio(),
          .middle = median_of(trial.blocks),
          .outputs = trial.outputs.text};
}

// Returns the expected time ratio of several pieces of advice together. Uses the measured
// combination if `lines` match it. Otherwise combines `ratios`, which has the ratio of each single
// piece.
Interval predicted_together(std::vector<size_t> lines, std::span<const Interval> ratios,
                            const std::optional<Combination>& together) {
  std::ranges::sort(lines);
  for (size_t& line : lines) ++line;
  if (together && together->lines == lines) return *together->advice.ratio;
  return combined_ratio(ratios);
}

Variant combination(const std::vector<size_t>& lines, const std::vector<Advice>& advice) {
  Variant change;
  for (const size_t line : lines) change = merged(std::move(change), *advice[line].change);
  return change;
}

}  // namespace

std::vector<size_t> chosen_lines(const std::vector<std::string>& chosen,
                                 const std::vector<Advice>& advice) {
  std::vector<size_t> lines;
  for (const std::string& text : chosen) {
    const size_t line = index_of(text, advice);
    const Advice& one = advice[line];
    if (std::ranges::count(lines, line) != 0) {
      throw ToolError(fmt::format("--apply {}: the same advice is given twice", text));
    }
    if (!one.change) {
      throw ToolError(
          fmt::format("--apply {}: no option does this; do it yourself: {}", text, one.how));
    }
    if (!one.needs.empty()) throw ToolError(fmt::format("--apply {}: needs {}", text, one.needs));
    for (const size_t other : lines) {
      const std::string option = conflicting_option(*one.change, *advice[other].change);
      if (option.empty()) continue;
      throw ToolError(fmt::format("--apply: {} and {} cannot be combined, because both set {}",
                                  advice[other].name, one.name, option));
    }
    lines.push_back(line);
  }
  return lines;
}

int apply_advice(Baseline& baseline, const Findings& findings, const AdviseOptions& options) {
  const std::vector<size_t> lines = chosen_lines(options.apply, findings.advice);
  const MadeProgram made = make(baseline, combination(lines, findings.advice));
  write_program(baseline, made, options.output);
  print_text(stdout, "\n" + commands(baseline, made, options.output));
  if (!options.verify) return 0;

  const double seconds = std::min(kVerifySeconds, options.seconds);
  std::vector<VerifiedLine> verified;
  std::vector<Interval> ratios;
  for (const size_t line : lines) {
    const Advice& advice = findings.advice[line];
    if (!advice.ratio) continue;
    ratios.push_back(*advice.ratio);
    verified.push_back(
        measure(baseline, make(baseline, *advice.change), advice.name, *advice.ratio, seconds));
  }
  if (ratios.empty()) {
    print_note("--verify: the applied advice predicts no time, so there is nothing to compare");
    return 0;
  }
  if (ratios.size() > 1) {
    verified.push_back(measure(baseline, made, "all together",
                               predicted_together(lines, ratios, findings.together), seconds));
  }
  print_text(stdout, "\n" + verification_text(verified, table_options(options.report).width));
  return std::ranges::all_of(verified, &VerifiedLine::is_inside) ? 0 : kExitBeyondLimit;
}

int apply_automatically(Baseline& baseline, const Findings& findings,
                        const AdviseOptions& options) {
  if (!findings.together) {
    print_text(stdout,
               "\nNothing was applied: no advice saves time without changing the outputs.\n");
    return 0;
  }
  const Combination& all = *findings.together;
  std::string text = "\nSteps:\n";
  for (const std::string& step : all.steps) text += "  " + step + '\n';
  const MadeProgram made = make(baseline, *all.advice.change);
  write_program(baseline, made, options.output);
  text += fmt::format("The program {}:\n{}", saved_text(all.advice),
                      commands(baseline, made, options.output));
  print_text(stdout, text);
  return 0;
}

}  // namespace vitrine::tools
