#include "tools/executor_runner/traced_program.h"

#include <span>
#include <vector>

#include "formats/etdump/etdump_writer.h"
#include "inspector/join/make_profile.h"
#include "runtime/platform/clock.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/program_record.h"
#include "tools/common/provenance.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/execution.h"
#include "tools/executor_runner/outputs.h"

namespace vitrine::tools {
namespace {

bool summarizes(ValueBuffer::Content content) {
  return content == ValueBuffer::Content::kSummaries;
}

size_t buffer_entries(const RunnerOptions& options, ValueBuffer::Content content) {
  if (!options.debug_outputs) return 0;
  return summarizes(content) ? TracedProgram::kMaxSummaries : ValueBuffer::kDefaultEntries;
}

size_t buffer_bytes(const RunnerOptions& options, ValueBuffer::Content content) {
  if (!options.debug_outputs) return 0;
  if (!summarizes(content)) return options.debug_buffer_bytes;
  return TracedProgram::kMaxSummaries * (sizeof(ValueSummary) + ValueBuffer::kAlignment);
}

}  // namespace

TracedProgram::TracedProgram(const SessionOptions& session_options, const RunnerOptions& options,
                             ValueBuffer::Content content)
    : values(buffer_bytes(options, content), buffer_entries(options, content), content),
      trace(options.trace_records, TraceBuffer::kDefaultBlocks,
            options.debug_outputs ? &values : nullptr),
      session(session_options),
      method(session.load_method(options.method, &trace)),
      run_options(options) {}

uint64_t TracedProgram::run(EventTracer* tracer) {
  inputs->apply(*method);
  method->set_tracer(tracer);
  const uint64_t start = platform::now_ns();
  execute(*method, run_options);
  return platform::now_ns() - start;
}

inspector::ValueRun TracedRun::values(const std::string& method) const {
  const etrecord::MethodRecord* method_record = nullptr;
  if (record) {
    const auto found = record->methods.find(method);
    if (found != record->methods.end()) method_record = &found->second;
  }
  return {profile, trace, method_record};
}

TracedRun read_run(const TracedProgram& side, const std::string& name,
                   const std::filesystem::path& model, const std::filesystem::path& etrecord,
                   size_t warmup, const RunnerOptions& options) {
  const std::vector<uint8_t> dump = check(write_etdump(side.trace));
  TracedRun result;
  result.trace = etdump::parse_etdump(std::as_bytes(std::span(dump.data(), dump.size())));
  if (options.debug_outputs) etdump::attach_debug_data(result.trace, side.values.data());
  inspector::ProfileOptions facts;
  result.record = record_for_program(*side.session.program(), etrecord, facts.run.warnings);
  facts.delegates = all_delegate_profiles();
  facts.method = options.method;
  facts.run.model = name;
  facts.run.inputs = side.inputs->descriptions();
  facts.run.outputs = describe_outputs(*side.method);
  facts.run.record = etrecord.filename().string();
  if (result.record && facts.run.record.empty()) facts.run.record = name;
  facts.run.load_ns = side.session.load_ns();
  facts.run.open_ns = side.session.open_ns();
  facts.run.warmup_runs = warmup;
  facts.run.threads = static_cast<uint32_t>(side.session.pool()->threads());
  add_provenance(facts.run, model, side.inputs->source());
  result.profile =
      inspector::make_profile(result.trace, result.record ? &*result.record : nullptr, facts);
  return result;
}

}  // namespace vitrine::tools
