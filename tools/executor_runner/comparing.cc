#include "tools/executor_runner/comparing.h"

#include <fmt/format.h>

#include <cstdio>

#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "formats/etrecord/etrecord.h"
#include "host/delegate_profiles.h"
#include "host/embedded_record.h"
#include "host/output_difference.h"
#include "host/session.h"
#include "host/tool_error.h"
#include "inspector/compare/comparison.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/report_comparison.h"
#include "inspector/report/report_values.h"
#include "runtime/platform/clock.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/outputs.h"
#include "tools/executor_runner/profiling.h"

namespace vitrine::tools {
namespace {

// A program with the objects that run and trace it.
struct Side {
  Side(const SessionOptions& session_options, const RunnerOptions& options)
      : values(options.debug_outputs ? options.debug_buffer_bytes : 0,
               options.debug_outputs ? ValueBuffer::kDefaultEntries : 0),
        trace(options.trace_records, TraceBuffer::kDefaultBlocks,
              options.debug_outputs ? &values : nullptr),
        session(session_options),
        method(session.load_method(options.method, &trace)) {}

  uint64_t run(EventTracer* tracer) {
    inputs->apply(*method);
    method->set_tracer(tracer);
    const uint64_t start = platform::now_ns();
    check(method->execute());
    return platform::now_ns() - start;
  }

  ValueBuffer values;
  TraceBuffer trace;
  Session session;
  std::unique_ptr<Method> method;
  std::optional<InputSet> inputs;
};

struct Traced {
  etdump::EtDump trace;
  std::optional<etrecord::EtRecord> record;
  inspector::Profile profile;

  inspector::ValueRun values(const std::string& method) const {
    const etrecord::MethodRecord* of_method = nullptr;
    if (record) {
      const auto found = record->methods.find(method);
      if (found != record->methods.end()) of_method = &found->second;
    }
    return {profile, trace, of_method};
  }
};

Traced profile_of(const Side& side, const std::string& name, const std::filesystem::path& etrecord,
                  size_t warmup, const RunnerOptions& options) {
  const flatbuffers::DetachedBuffer dump = check(write_etdump(side.trace));
  Traced result;
  result.trace = etdump::parse_etdump(std::as_bytes(std::span(dump.data(), dump.size())));
  if (options.debug_outputs) etdump::attach_debug_data(result.trace, side.values.data());
  result.record = etrecord.empty() ? embedded_record(*side.session.program())
                                   : etrecord::read_etrecord(etrecord);
  inspector::ProfileOptions facts;
  facts.delegates = all_delegate_profiles();
  facts.method = options.method;
  facts.run.model = name;
  facts.run.inputs = side.inputs->descriptions();
  facts.run.outputs = describe_outputs(*side.method);
  facts.run.record = etrecord.filename().string();
  if (result.record && facts.run.record.empty()) facts.run.record = name;
  facts.run.load_ns = side.session.load_ns();
  facts.run.warmup_runs = warmup;
  facts.run.threads = static_cast<uint32_t>(side.session.pool()->threads());
  result.profile =
      inspector::make_profile(result.trace, result.record ? &*result.record : nullptr, facts);
  return result;
}

// Runs A B A B ...; returns the number of warm-ups.
size_t run_in_turn(Side& a, Side& b, const RunnerOptions& options) {
  size_t warmup = options.warmup.value_or(1);
  uint64_t last = 0;
  for (size_t i = 0; i < warmup; ++i) {
    last = a.run(nullptr) + b.run(nullptr);
    if (i == 0 && !options.warmup) warmup = warm_ups_for(last);
  }
  if (last == 0) last = static_cast<uint64_t>(kSecond);
  const size_t runs = options.executions.value_or(runs_that_fit(3 * kSecond, last, 5, 50));
  for (size_t i = 0; i < runs; ++i) {
    a.run(&a.trace);
    b.run(&b.trace);
  }
  return warmup;
}

// Runs each once more, since a program may keep state.
int report_value_comparison(const Traced& a, const Traced& b, uint64_t dropped,
                            const RunnerOptions& options) {
  const inspector::ValueComparison comparison =
      inspector::compare_values(a.values(options.method), b.values(options.method),
                                options.min_sqnr.value_or(inspector::kDefaultMinSqnrDb));
  write_report(options.report.format == ReportFormat::kJson
                   ? inspector::report_values_json(comparison, a.profile, b.profile)
                   : inspector::report_values(comparison, a.profile, b.profile,
                                              table_options(options.report)),
               options.report);
  if (dropped != 0) {
    fmt::print(stderr,
               "executor_runner: {} outputs did not fit and are not compared: raise "
               "--debug_buffer_size\n",
               dropped);
  }
  return options.min_sqnr && comparison.is_below() ? kExitBeyondLimit : 0;
}

}  // namespace

int run_comparison(const RunnerOptions& options) {
  // Both share a pool, since idle workers of another one would spin during the runs.
  SessionOptions sessions{.model = options.model,
                          .data = options.data,
                          .threads = options.threads,
                          .backend_options = options.backend.parsed(),
                          .optimized_kernels = !options.portable};
  Side a(sessions, options);
  sessions.model = options.compare;
  sessions.data = options.compare_data;
  sessions.pool = a.session.pool();
  Side b(sessions, options);
  a.inputs.emplace(make_inputs(a.session, *a.method, options, a.trace));
  b.inputs.emplace(*b.method, *a.inputs);
  size_t warmup = 0;
  if (options.debug_outputs) {
    a.run(&a.trace);
    b.run(&b.trace);
  } else {
    warmup = run_in_turn(a, b, options);
  }

  const auto [name_a, name_b] = short_names(options.model, options.compare);
  const Traced traced_a = profile_of(a, name_a, options.etrecord, warmup, options);
  const Traced traced_b = profile_of(b, name_b, options.compare_etrecord, warmup, options);
  if (options.debug_outputs) {
    return report_value_comparison(traced_a, traced_b, a.values.dropped() + b.values.dropped(),
                                   options);
  }
  inspector::Comparison comparison =
      inspector::compare_profiles(traced_a.profile, traced_b.profile, true);
  comparison.outputs = compare_outputs(*a.method, *b.method);
  write_report(
      options.report.format == ReportFormat::kJson
          ? inspector::report_comparison_json(comparison, traced_a.profile, traced_b.profile)
          : inspector::report_comparison(comparison, traced_a.profile, traced_b.profile,
                                         table_options(options.report)),
      options.report);
  return exceeds(comparison, options.fail_above) ? kExitBeyondLimit : 0;
}

}  // namespace vitrine::tools
