#include "tools/executor_runner/numerics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "inspector/compare/numerics_comparison.h"
#include "inspector/report/numerics_texts.h"
#include "inspector/report/report_numerics.h"
#include "inspector/report/report_numerics_comparison.h"
#include "inspector/report/report_numerics_html.h"
#include "tools/common/messages.h"
#include "tools/common/profile_report.h"
#include "tools/common/stored_profile.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/numerics_run.h"

namespace vitrine::tools {
namespace {

// Sets the names of the folders, lists or archives that contain the samples.
void name_samples(NumericsResult& result, size_t samples, const RunnerOptions& options) {
  std::vector<std::string> paths;
  for (const InputSpec& input : options.inputs) paths.push_back(input.file.string());
  result.program.run.input_values = result.reference.run.input_values =
      fmt::format("{} of {}", inspector::counted(samples, "sample"), fmt::join(paths, ", "));
}

std::string numerics_report(const NumericsResult& result, const ReportOptions& options) {
  const inspector::Profile* timed = result.timed ? &*result.timed : nullptr;
  switch (options.format) {
    case ReportFormat::kCsv:
      return inspector::report_numerics_csv(result.numerics, result.program);
    case ReportFormat::kJson:
      return inspector::report_numerics_json(result.numerics, result.program, result.reference,
                                             timed);
    case ReportFormat::kHtml:
      return inspector::report_numerics_html(result.numerics, result.program, result.reference,
                                             timed, options.graph);
    default:
      return inspector::report_numerics(result.numerics, result.program, result.reference,
                                        table_options(options));
  }
}

std::string comparison_report(const NumericsResult& a, const NumericsResult& b,
                              const ReportOptions& options) {
  const inspector::NumericsComparison comparison =
      inspector::compare_numerics(a.numerics, b.numerics);
  const auto side = [](const NumericsResult& result) {
    return inspector::NumericsSide{result.numerics, result.program,
                                   result.timed ? &*result.timed : nullptr};
  };
  const inspector::NumericsSide side_a = side(a);
  const inspector::NumericsSide side_b = side(b);
  switch (options.format) {
    case ReportFormat::kCsv:
      return inspector::report_numerics_comparison_csv(comparison, side_a, side_b);
    case ReportFormat::kJson:
      return inspector::report_numerics_comparison_json(comparison, side_a, side_b, a.reference);
    case ReportFormat::kHtml:
      return inspector::report_numerics_comparison_html(comparison, side_a, side_b, a.reference);
    default:
      return inspector::report_numerics_comparison(comparison, side_a, side_b, a.reference,
                                                   table_options(options));
  }
}

RunnerOptions options_of_compared(const RunnerOptions& options) {
  RunnerOptions other = options;
  other.model = options.compare;
  other.data = options.compare_data;
  other.etrecord = options.compare_etrecord;
  return other;
}

}  // namespace

int run_numerics(const RunnerOptions& given) {
  RunnerOptions options = given;
  options.debug_outputs = true;
  const bool compares = !options.compare.empty();
  if (compares && is_stored_profile(options.compare)) {
    throw ToolError(fmt::format(
        "--compare {}: a stored profile contains no values; give a program for --numerics",
        options.compare.string()));
  }
  const std::vector<std::byte> lowered = lower_reference(options);
  const SessionOptions session = session_options(options);
  const RunnerOptions other = options_of_compared(options);
  const SessionOptions other_session = session_options(other);
  const std::vector<NumericsSample> samples = find_numerics_samples(options, session);
  std::vector<NumericsRun> runs;
  runs.emplace_back(options, session, lowered);
  if (compares) runs.emplace_back(other, other_session, lowered);
  std::vector<NumericsResult> results =
      measure_numerics(runs, samples, options.report.format == ReportFormat::kHtml);
  uint64_t dropped = 0;
  bool is_below = false;
  bool is_measured = true;  // at least one operator of each program was measured
  for (NumericsResult& result : results) {
    if (options.has_samples) name_samples(result, result.numerics.samples.size(), options);
    dropped += result.dropped_values;
    is_below |= result.numerics.first_below.has_value();
    is_measured &= inspector::has_measured_operator(result.numerics);
  }
  if (compares) {
    const auto [name_a, name_b] = short_names(options.model, options.compare);
    results[0].program.run.model = name_a;
    results[1].program.run.model = name_b;
  }
  ReportOptions report = options.report;
  if (!compares) {
    report.graph = graph_for(report, options.model, options.etrecord, results[0].program,
                             inspector::error_figures(results[0].numerics));
  }
  write_report(compares ? comparison_report(results[0], results[1], report)
                        : numerics_report(results[0], report),
               report);
  if (dropped != 0) {
    print_note(fmt::format(
        "{} values did not fit into memory and are not measured: raise --debug_buffer_size",
        dropped));
  }
  if (options.fail_below && !is_measured) {
    throw ToolError("--fail_below: no operator was measured; the report gives the reasons");
  }
  return options.fail_below && is_below ? kExitBeyondLimit : 0;
}

}  // namespace vitrine::tools
