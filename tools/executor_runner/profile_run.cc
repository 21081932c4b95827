#include "tools/executor_runner/profile_run.h"

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/cost.h"
#include "inspector/join/make_profile.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/machine_limits.h"
#include "tools/common/memory_plan.h"
#include "tools/common/program_record.h"
#include "tools/common/provenance.h"
#include "tools/executor_runner/outputs.h"
#include "tools/executor_runner/profiling.h"

namespace vitrine::tools {

inspector::RunInfo profiled_runs(const Session& session, Method& method, InputSet& inputs,
                                 TraceBuffer& trace, const RunnerOptions& options) {
  const ProfiledRuns runs = run_profiled(method, inputs, trace, options);
  inspector::RunInfo info;
  info.warmup_runs = runs.warmup;
  info.trace_overhead = runs.trace_overhead;
  info.trace_floor = runs.trace_floor;
  info.peak_rss_bytes = runs.memory.peak;
  info.steady_rss_bytes = runs.memory.now;
  info.memory = memory_info(method.memory_usage());
  info.plan = memory_plan(method.meta());
  info.model = options.model.filename().string();
  info.inputs = inputs.descriptions();
  info.outputs = describe_outputs(method);
  info.record = options.etrecord.filename().string();
  info.load_ns = session.load_ns();
  info.open_ns = session.open_ns();
  info.threads = static_cast<uint32_t>(session.pool()->threads());
  add_provenance(info, options.model, inputs.source());
  if (!runs.interrupted.empty()) info.warnings.push_back(runs.interrupted);
  add_cpu_shortage(info, runs.cpu);
  if (options.roofline) info.limits = limits_for_profile(*info.threads, info.warnings);
  return info;
}

inspector::Profile profile_of_trace(std::span<const std::byte> dump, inspector::RunInfo runs,
                                    const Program& program, const RunnerOptions& options) {
  const std::optional<etrecord::EtRecord> record =
      record_for_program(program, options.etrecord, runs.warnings);
  if (record && runs.record.empty()) runs.record = runs.model;
  inspector::Profile profile = inspector::make_profile(
      etdump::parse_etdump(dump), record ? &*record : nullptr,
      {.method = options.method, .run = std::move(runs), .delegates = all_delegate_profiles()});
  if (inspector::beats_limits(profile)) {
    profile.run.limits = machine_limits(*profile.run.threads, default_cache_file(), true);
  }
  return profile;
}

}  // namespace vitrine::tools
