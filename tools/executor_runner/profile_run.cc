#include "tools/executor_runner/profile_run.h"

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "host/delegate_profiles.h"
#include "host/embedded_record.h"
#include "host/machine_limits.h"
#include "host/memory_plan.h"
#include "inspector/join/make_profile.h"
#include "tools/executor_runner/outputs.h"
#include "tools/executor_runner/profiling.h"

namespace vitrine::tools {

inspector::RunInfo profiled_runs(const Session& session, Method& method, InputSet& inputs,
                                 TraceBuffer& trace, const RunnerOptions& options) {
  const ProfiledRuns runs = run_profiled(method, inputs, trace, options);
  inspector::RunInfo info;
  info.warmup_runs = runs.warmup;
  info.trace_overhead = runs.trace_overhead;
  info.peak_rss_bytes = runs.memory.peak;
  info.steady_rss_bytes = runs.memory.now;
  info.memory = memory_info(method.memory_usage());
  info.plan = memory_plan(method.meta());
  info.model = options.model.filename().string();
  info.inputs = inputs.descriptions();
  info.outputs = describe_outputs(method);
  info.record = options.etrecord.filename().string();
  info.load_ns = session.load_ns();
  info.threads = static_cast<uint32_t>(session.pool()->threads());
  if (options.roofline) info.limits = machine_limits(*info.threads, default_cache_file());
  return info;
}

inspector::Profile profile_of_trace(std::span<const std::byte> dump, inspector::RunInfo runs,
                                    const Program& program, const RunnerOptions& options) {
  const std::optional<etrecord::EtRecord> record = options.etrecord.empty()
                                                       ? embedded_record(program)
                                                       : etrecord::read_etrecord(options.etrecord);
  if (record && runs.record.empty()) runs.record = runs.model;
  return inspector::make_profile(
      etdump::parse_etdump(dump), record ? &*record : nullptr,
      {.method = options.method, .run = std::move(runs), .delegates = all_delegate_profiles()});
}

}  // namespace vitrine::tools
