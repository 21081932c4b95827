#include "tools/executor_runner/sweep.h"

#include <span>
#include <vector>

#include "formats/etdump/etdump_writer.h"
#include "inspector/report/report_sweep.h"
#include "tools/common/interrupt.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/profile_run.h"

namespace vitrine::tools {
namespace {

inspector::Profile profile_with(const RunnerOptions& options) {
  Session session(session_options(options));
  TraceBuffer trace(options.trace_records);
  const std::unique_ptr<Method> method = session.load_method(options.method, &trace);
  InputSet inputs = make_inputs(session, *method, options, trace);
  inspector::RunInfo runs = profiled_runs(session, *method, inputs, trace, options);
  const std::vector<uint8_t> dump = check(write_etdump(trace));
  return profile_of_trace(std::as_bytes(std::span(dump.data(), dump.size())), std::move(runs),
                          *session.program(), options);
}

}  // namespace

void run_sweep(const RunnerOptions& options) {
  std::vector<inspector::Profile> profiles;
  for (const size_t threads : options.sweep) {
    if (stop_flag()) break;
    RunnerOptions one = options;
    one.threads = threads;
    profiles.push_back(profile_with(one));
  }
  write_report(options.report.format == ReportFormat::kJson
                   ? inspector::report_sweep_json(profiles)
                   : inspector::report_sweep(profiles, table_options(options.report)),
               options.report);
}

}  // namespace vitrine::tools
