// Implements --profile: runs a method and makes a profile from the trace.
#pragma once

#include <cstddef>
#include <span>

#include "inspector/join/profile.h"
#include "runtime/extension/trace_buffer.h"
#include "tools/common/session.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs `method`, which must have been loaded with `trace` as its tracer. Returns the facts about
// the runs that are not in the trace, for profile_of_trace(). Throws ToolError.
inspector::RunInfo profiled_runs(const Session& session, Method& method, InputSet& inputs,
                                 TraceBuffer& trace, const RunnerOptions& options);

// Makes the profile from the bytes of an ETDump, in the same way as pte_inspect. The record is
// options.etrecord, or the one that the program contains. Throws HostError.
inspector::Profile profile_of_trace(std::span<const std::byte> dump, inspector::RunInfo runs,
                                    const Program& program, const RunnerOptions& options);

}  // namespace vitrine::tools
