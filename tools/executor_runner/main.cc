// executor_runner: runs a program, profiles it, and compares it with another.
#include <fmt/format.h>

#include <cstdio>

#include "formats/etdump/etdump_writer.h"
#include "host/command_line.h"
#include "host/files.h"
#include "host/session.h"
#include "host/tool_error.h"
#include "tools/executor_runner/comparing.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"
#include "tools/executor_runner/outputs.h"
#include "tools/executor_runner/profile_run.h"
#include "tools/executor_runner/verification.h"

namespace vitrine::tools {
namespace {

// One run unless asked for more: a program may keep state. `tracer` may be null.
void run_plain(Method& method, InputSet& inputs, EventTracer* tracer,
               const RunnerOptions& options) {
  const size_t warmup = options.warmup.value_or(0);
  for (size_t i = 0; i < warmup + options.executions.value_or(1); ++i) {
    method.set_tracer(i < warmup ? nullptr : tracer);
    inputs.apply(method);
    check(method.execute());
  }
}

constexpr int kVerificationFailed = 2;

void write_trace(const TraceBuffer& trace, const flatbuffers::DetachedBuffer& dump,
                 const RunnerOptions& options) {
  NewFiles files;
  files.add(options.etdump).append(std::as_bytes(std::span(dump.data(), dump.size())));
  if (trace.values() == nullptr) return files.commit();
  std::filesystem::path beside = options.debug_buffer;
  if (beside.empty()) beside = options.etdump.string() + ".data";
  files.add(beside).append(trace.values()->data());
  files.commit();
  if (trace.values()->dropped() != 0) {
    fmt::print(stderr,
               "executor_runner: {} outputs did not fit and are not in the trace: raise "
               "--debug_buffer_size\n",
               trace.values()->dropped());
  }
}

int run_verification(Session& session, const RunnerOptions& options) {
  const VerificationReport report = verify(session, options);
  write_report(options.report.format == ReportFormat::kJson ? verification_json(report)
                                                            : verification_table(report),
               options.report);
  return report.passed() ? 0 : kVerificationFailed;
}

void run_method(Session& session, const RunnerOptions& options) {
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
  const std::string outputs = print_outputs(
      *method,
      options.print_output.value_or(options.profile ? PrintOutput::kNone : PrintOutput::kSummary));
  std::fwrite(outputs.data(), 1, outputs.size(), stdout);
  if (!traced) return;

  const flatbuffers::DetachedBuffer dump = check(write_etdump(trace));
  if (!options.etdump.empty()) write_trace(trace, dump, options);
  if (!options.profile) return;
  const inspector::Profile profile = profile_of_trace(
      std::as_bytes(std::span(dump.data(), dump.size())), runs, *session.program(), options);
  ReportOptions report = options.report;
  if (report.format == ReportFormat::kJsonl) add_default_labels(report, options.model);
  write_report(make_report(profile, report), report);
}

int run(const RunnerOptions& options) {
  Session session(
      {options.model, options.data, options.threads, options.backend.parsed(), !options.portable});
  if (options.verify) return run_verification(session, options);
  run_method(session, options);
  return 0;
}

}  // namespace
}  // namespace vitrine::tools

int main(int argc, char** argv) {
  using namespace vitrine::tools;
  return run_tool("executor_runner", [&] {
    int exit_code = 0;
    const auto options = parse_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    return options->compare.empty() ? run(*options) : run_comparison(*options);
  });
}
