// executor_runner: runs a program, and profiles it.
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "devtools/etdump/etdump_reader.h"
#include "devtools/etdump/etdump_writer.h"
#include "devtools/etrecord/etrecord.h"
#include "devtools/inspector/make_profile.h"
#include "devtools/inspector/report_csv.h"
#include "devtools/inspector/report_json.h"
#include "devtools/inspector/report_table.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"
#include "tools/executor_runner/outputs.h"
#include "tools/executor_runner/profiling.h"
#include "tools/files.h"
#include "tools/session.h"
#include "tools/tool_error.h"

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

inspector::TableOptions table_options(const RunnerOptions& options) {
  inspector::TableOptions table;
  const bool terminal = options.report.empty() && isatty(STDOUT_FILENO) != 0;
  table.color = terminal && std::getenv("NO_COLOR") == nullptr;
  table.ids = options.ids;
  winsize window{};
  if (options.width != 0) {
    table.width = options.width;
  } else if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col != 0) {
    table.width = window.ws_col;
  }
  return table;
}

std::string make_report(const inspector::Profile& profile, const RunnerOptions& options) {
  switch (options.format) {
    case ReportFormat::kJson:
      return inspector::report_json(profile);
    case ReportFormat::kCsv:
      return inspector::report_csv(profile);
    case ReportFormat::kTable:
      break;
  }
  return inspector::report_table(profile, table_options(options));
}

// The report is made from the ETDump's bytes, as it would be on another machine.
void report_trace(const flatbuffers::DetachedBuffer& dump, inspector::ProfileOptions facts,
                  const RunnerOptions& options) {
  const etdump::EtDump trace =
      etdump::parse_etdump(std::as_bytes(std::span(dump.data(), dump.size())));
  std::optional<etrecord::EtRecord> record;
  if (!options.etrecord.empty()) record = etrecord::read_etrecord(options.etrecord);
  const inspector::Profile profile =
      inspector::make_profile(trace, record ? &*record : nullptr, facts);
  const std::string report = make_report(profile, options);
  if (options.report.empty()) {
    std::fwrite(report.data(), 1, report.size(), stdout);
  } else {
    write_file(options.report, report);
  }
}

inspector::MemoryInfo memory_info(const MemoryUsage& usage) {
  using Kind = DelegateMemory::Kind;
  return {.planned = usage.planned,
          .metadata = usage.metadata + usage.temporary,
          .workspace = usage.delegates.bytes(Kind::kWorkspace),
          .packed_weights = usage.delegates.bytes(Kind::kPackedWeights),
          .mapped_weights = usage.delegates.bytes(Kind::kMappedWeights),
          .constants = usage.delegates.bytes(Kind::kConstants)};
}

void run(const RunnerOptions& options) {
  std::vector<BackendOption> backend_options;
  for (const std::string& option : options.backend_options) {
    backend_options.push_back(parse_backend_option(option));
  }
  Session session(
      {options.model, options.data, options.threads, backend_options, !options.portable});
  const bool traced = options.profile || !options.etdump.empty();
  TraceBuffer trace(traced ? options.trace_records : 0);
  const std::unique_ptr<Method> method =
      session.load_method(options.method, traced ? &trace : nullptr);
  InputSet inputs(*method, options.inputs, options.seed);

  inspector::ProfileOptions facts;
  if (options.profile) {
    const ProfiledRuns runs = run_profiled(*method, inputs, trace, options);
    facts.run.warmup_runs = runs.warmup;
    facts.run.trace_overhead = runs.trace_overhead;
    facts.run.peak_rss_bytes = runs.memory.peak;
    facts.run.steady_rss_bytes = runs.memory.now;
    facts.run.memory = memory_info(method->memory_usage());
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
  if (!options.etdump.empty()) {
    write_file(options.etdump, std::as_bytes(std::span(dump.data(), dump.size())));
  }
  if (!options.profile) return;
  facts.method = options.method;
  facts.run.model = options.model.filename().string();
  facts.run.inputs = inputs.descriptions();
  facts.run.outputs = describe_outputs(*method);
  facts.run.record = options.etrecord.filename().string();
  facts.run.load_ns = session.load_ns();
  facts.run.threads = static_cast<uint32_t>(session.pool().threads());
  report_trace(dump, std::move(facts), options);
}

}  // namespace
}  // namespace vitrine::tools

int main(int argc, char** argv) {
  try {
    int exit_code = 0;
    const auto options = vitrine::tools::parse_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    vitrine::tools::run(*options);
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "executor_runner: {}\n", error.what());
    return 1;
  }
}
