// TracedProgram runs and traces a program. TracedRun joins the trace with the program's record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/compare/value_comparison.h"
#include "inspector/join/profile.h"
#include "runtime/extension/trace_buffer.h"
#include "tools/common/session.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"

namespace vitrine::tools {

struct TracedProgram {
  static constexpr size_t kMaxSummaries = 8192;  // 7 MB

  // Captures the values of ops if options.debug_outputs is set. `options` must outlive the object.
  TracedProgram(const SessionOptions& session_options, const RunnerOptions& options,
                ValueBuffer::Content content = ValueBuffer::Content::kValues);

  // Runs the method once and returns the time in ns. Precondition: `inputs` is set. `tracer` may be
  // null.
  uint64_t run(EventTracer* tracer);

  ValueBuffer values;
  TraceBuffer trace;
  Session session;
  std::unique_ptr<Method> method;
  std::optional<InputSet> inputs;
  const RunnerOptions& run_options;
};

struct TracedRun {
  etdump::EtDump trace;
  std::optional<etrecord::EtRecord> record;
  inspector::Profile profile;

  inspector::ValueRun values(const std::string& method) const;
};

// Reads the trace of `side`. `name` is the program's name in reports, `model` its file, and
// `etrecord` its record file. Without this file, uses the program's own record.
TracedRun read_run(const TracedProgram& side, const std::string& name,
                   const std::filesystem::path& model, const std::filesystem::path& etrecord,
                   size_t warmup, const RunnerOptions& options);

}  // namespace vitrine::tools
