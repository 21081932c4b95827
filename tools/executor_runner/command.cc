// executor_runner: runs a program, profiles it, and compares two programs.
#include <fmt/format.h>

#include <cstdio>

#include "demo_backend/profile.h"
#include "demo_backend/runtime.h"
#include "formats/etdump/etdump_writer.h"
#include "tools/common/command_line.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/files.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/progress.h"
#include "tools/common/session.h"
#include "tools/common/stored_profile.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/comparing.h"
#include "tools/executor_runner/execution.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/numerics.h"
#include "tools/executor_runner/options.h"
#include "tools/executor_runner/outputs.h"
#include "tools/executor_runner/profile_run.h"
#include "tools/executor_runner/replacement.h"
#include "tools/executor_runner/sweep.h"
#include "tools/executor_runner/value_summaries.h"
#include "tools/executor_runner/verification.h"
#include "tools/vitrine/commands.h"

namespace vitrine::tools {
namespace {

// Runs the method once by default, because more runs could change the outputs of a program with
// state. `tracer` may be null.
void run_plain(Method& method, InputSet& inputs, EventTracer* tracer,
               const RunnerOptions& options) {
  const size_t warmup = options.warmup.value_or(0);
  const size_t runs = warmup + options.executions.value_or(1);
  Progress progress("running");
  for (size_t i = 0; i < runs; ++i) {
    progress.update(i, runs);
    method.set_tracer(i < warmup ? nullptr : tracer);
    inputs.apply(method);
    execute(method, options);
  }
}

void write_trace(const TraceBuffer& trace, const std::vector<uint8_t>& dump,
                 const RunnerOptions& options) {
  NewFiles files;
  files.add(options.etdump).append(std::as_bytes(std::span(dump.data(), dump.size())));
  if (trace.values() == nullptr) return files.commit();
  std::filesystem::path values = options.debug_buffer;
  if (values.empty()) values = options.etdump.string() + ".data";
  files.add(values).append(trace.values()->data());
  files.commit();
  if (trace.values()->dropped() != 0) {
    print_note(fmt::format(
        "{} outputs did not fit into memory and are not in the trace: raise --debug_buffer_size",
        trace.values()->dropped()));
  }
}

int run_verification(Session& session, const RunnerOptions& options) {
  const VerificationReport report = verify(session, options);
  write_report(options.report.format == ReportFormat::kJson ? verification_json(report)
                                                            : verification_table(report),
               options.report);
  return report.passed() ? 0 : kExitBeyondLimit;
}

// Runs the method and writes the requested results. Returns the exit code.
int run_method(Session& session, const RunnerOptions& options) {
  const bool traced = options.profile || !options.etdump.empty();
  std::optional<ValueBuffer> values;
  if (options.debug_outputs) values.emplace(options.debug_buffer_bytes);
  TraceBuffer trace(traced ? options.trace_records : 0, TraceBuffer::kDefaultBlocks,
                    values ? &*values : nullptr);
  const std::unique_ptr<Method> method =
      session.load_method(options.method, traced ? &trace : nullptr);
  InputSet inputs = make_inputs(session, *method, options, trace);

  inspector::RunInfo runs;
  if (options.profile) {
    runs = profiled_runs(session, *method, inputs, trace, options);
  } else {
    run_plain(*method, inputs, traced ? &trace : nullptr, options);
  }
  if (!options.output_base.empty()) write_outputs(*method, options.output_base);
  print_text(stdout, print_outputs(*method, options.print_output.value_or(
                                                options.profile ? PrintOutput::kNone
                                                                : PrintOutput::kSummary)));
  if (!traced) return 0;

  const std::vector<uint8_t> dump = check(write_etdump(trace));
  if (!options.etdump.empty()) write_trace(trace, dump, options);
  if (!options.profile) return 0;
  const inspector::Profile profile = profile_of_trace(
      std::as_bytes(std::span(dump.data(), dump.size())), runs, *session.program(), options);
  if (!options.compare.empty()) return compare_with_stored(profile, options);
  ReportOptions report = options.report;
  if (report.format == ReportFormat::kJsonl) add_default_labels(report, options.model);
  report.graph = graph_for(report, options.model, options.etrecord, profile);
  write_report(make_report(profile, report), report);
  return 0;
}

// Describes options.replaced and the program in `session`, which runs instead, on stderr. Throws a
// ToolError if the interfaces of the two programs differ.
void print_replacement(const Session& session, const RunnerOptions& options) {
  const std::filesystem::path& file = options.replaced;
  const Session replaced({.model = file, .data = options.data, .threads = 1});
  check_same_interface(*replaced.program(), *session.program(), options.method);
  print_text(stderr, describe_replacement(*replaced.program(), file, *session.program(),
                                          options.model, options.method));
}

int run(const RunnerOptions& options) {
  if (!options.sweep.empty()) {
    run_sweep(options);
    return 0;
  }
  if (options.numerics) return run_numerics(options);
  if (options.value_summaries) {
    run_value_summaries(options);
    return 0;
  }
  Session session(session_options(options));
  if (!options.replaced.empty()) print_replacement(session, options);
  if (options.verify) return run_verification(session, options);
  return run_method(session, options);
}

}  // namespace

int executor_runner(int argc, char** argv) {
  return run_tool("executor_runner", [&] {
    add_backend(demo::backend(), demo::profile());
    int exit_code = 0;
    const auto options = parse_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    options->backend.load_libraries();
    if (options->profile || options->numerics) {
      stop_on_interrupt();
    } else {
      cancel_on_interrupt();
    }
    const bool runs_two =
        !options->compare.empty() && !options->numerics && !is_stored_profile(options->compare);
    return runs_two ? run_comparison(*options) : run(*options);
  });
}

}  // namespace vitrine::tools
