#include "tools/executor_runner/comparing.h"

#include <fmt/format.h>

#include <cstdio>
#include <random>

#include "inspector/compare/comparison.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/output_difference.h"
#include "tools/common/progress.h"
#include "tools/common/provenance.h"
#include "tools/common/session.h"
#include "tools/common/stored_profile.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/outputs.h"
#include "tools/executor_runner/profiling.h"
#include "tools/executor_runner/traced_program.h"

namespace vitrine::tools {
namespace {

// Runs A and B in pairs of random order, so that other processes do not always interrupt the same
// program. The random order keeps the sign test valid if consecutive runs are correlated.
ProfiledRuns run_alternately(TracedProgram& a, TracedProgram& b, const RunnerOptions& options) {
  ProfiledRuns result;
  size_t warmup = options.warmup.value_or(1);
  uint64_t last = 0;
  for (size_t i = 0; i < warmup; ++i) {
    last = a.run(nullptr) + b.run(nullptr);
    if (i == 0 && !options.warmup) warmup = num_warmup_runs(last);
  }
  if (last == 0) last = static_cast<uint64_t>(kSecond);
  const size_t runs = options.executions.value_or(
      num_runs_within(3 * kSecond, last, inspector::kMinRunsToDecide, 50));
  const CpuMeter meter;
  std::mt19937 order;
  Progress progress("comparing");
  for (size_t i = 0; i < runs; ++i) {
    if (stop_flag() && i > 0) {
      result.interrupted = interrupted_text(i, runs);
      break;
    }
    progress.update(i, runs);
    const bool a_is_first = order() % 2 == 0;
    TracedProgram& first = a_is_first ? a : b;
    TracedProgram& second = a_is_first ? b : a;
    first.run(&first.trace);
    second.run(&second.trace);
  }
  result.cpu = meter.read();
  result.warmup = warmup;
  return result;
}

int report_value_comparison(const TracedRun& a, const TracedRun& b,
                            std::vector<inspector::OutputDifference> outputs, uint64_t dropped,
                            const RunnerOptions& options) {
  inspector::ValueComparison comparison =
      inspector::compare_values(a.values(options.method), b.values(options.method),
                                options.min_sqnr.value_or(inspector::kDefaultMinSqnrDb));
  comparison.outputs = std::move(outputs);
  write_report(make_report(comparison, a.profile, b.profile, options.report), options.report);
  if (dropped != 0) {
    print_note(fmt::format(
        "{} outputs did not fit into memory and are not compared: raise --debug_buffer_size",
        dropped));
  }
  if (!comparison.has_figures()) throw ToolError(inspector::kNothingCompared);
  return options.min_sqnr && comparison.is_below() ? kExitBeyondLimit : 0;
}

}  // namespace

int compare_with_stored(const inspector::Profile& run, const RunnerOptions& options) {
  const inspector::Profile stored =
      read_stored_profile(options.compare, options.compare_etrecord, options.method);
  const inspector::Comparison comparison = inspector::compare_profiles(stored, run, false);
  ReportOptions report = options.report;
  report.graph = graph_for(report, options.model, options.etrecord, run,
                           inspector::change_figures(comparison));
  write_report(make_report(comparison, stored, run, report), report);
  return exceeds(comparison, options.fail_above) ? kExitBeyondLimit : 0;
}

int run_comparison(const RunnerOptions& options) {
  // Idle workers of a second thread pool would spin during the runs.
  SessionOptions sessions = session_options(options);
  TracedProgram a(sessions, options);
  sessions.model = options.compare;
  sessions.data = options.compare_data;
  sessions.pool = a.session.pool();
  TracedProgram b(sessions, options);
  a.inputs.emplace(make_inputs(a.session, *a.method, options, a.trace));
  b.inputs.emplace(*b.method, *a.inputs);
  ProfiledRuns runs;
  if (options.debug_outputs) {  // a single run, because a program may keep state
    a.run(&a.trace);
    b.run(&b.trace);
  } else {
    runs = run_alternately(a, b, options);
  }

  const auto [name_a, name_b] = short_names(options.model, options.compare);
  TracedRun run_a = read_run(a, name_a, options.model, options.etrecord, runs.warmup, options);
  const TracedRun run_b =
      read_run(b, name_b, options.compare, options.compare_etrecord, runs.warmup, options);
  if (options.debug_outputs) {
    return report_value_comparison(run_a, run_b, compare_outputs(*a.method, *b.method),
                                   a.values.dropped() + b.values.dropped(), options);
  }
  if (!runs.interrupted.empty()) run_a.profile.run.warnings.push_back(runs.interrupted);
  add_cpu_shortage(run_a.profile.run, runs.cpu);
  inspector::Comparison comparison =
      inspector::compare_profiles(run_a.profile, run_b.profile, true);
  comparison.outputs = compare_outputs(*a.method, *b.method);
  ReportOptions report = options.report;
  report.graph = graph_for(report, options.compare, options.compare_etrecord, run_b.profile,
                           inspector::change_figures(comparison));
  write_report(make_report(comparison, run_a.profile, run_b.profile, report), report);
  return exceeds(comparison, options.fail_above) ? kExitBeyondLimit : 0;
}

}  // namespace vitrine::tools
