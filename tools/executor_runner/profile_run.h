// Implements --profile.
#pragma once

#include <cstddef>
#include <span>

#include "inspector/join/profile.h"
#include "runtime/extension/trace_buffer.h"
#include "tools/common/session.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs `method`, whose tracer must be `trace`. Returns the facts that are not in the trace. Throws
// ToolError.
inspector::RunInfo profiled_runs(const Session& session, Method& method, InputSet& inputs,
                                 TraceBuffer& trace, const RunnerOptions& options);

// Makes the profile from an ETDump. The record is options.etrecord, or the program's own record.
// Throws HostError.
inspector::Profile profile_of_trace(std::span<const std::byte> dump, inspector::RunInfo runs,
                                    const Program& program, const RunnerOptions& options);

}  // namespace vitrine::tools
