// What --profile does: runs a method, and makes the profile of its trace.
#pragma once

#include <cstddef>
#include <span>

#include "formats/etdump/trace_buffer.h"
#include "host/session.h"
#include "inspector/join/profile.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs `method`, which must have been loaded with `trace` as its tracer. Returns what the profile
// says of the runs, beside their trace. Throws ToolError.
inspector::RunInfo profiled_runs(const Session& session, Method& method, InputSet& inputs,
                                 TraceBuffer& trace, const RunnerOptions& options);

// From an ETDump's bytes, as it would be on another machine. The record is options.etrecord, or the
// program's own. Throws HostErrors.
inspector::Profile profile_of_trace(std::span<const std::byte> dump, inspector::RunInfo runs,
                                    const Program& program, const RunnerOptions& options);

}  // namespace vitrine::tools
