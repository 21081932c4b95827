// Runs a method for its profile: first warm-ups, of which the first is traced and marked, then
// traced and untraced runs in turn. So the cost of tracing is measured under the same conditions as
// the profile.
#pragma once

#include <optional>

#include "formats/etdump/trace_buffer.h"
#include "inspector/join/profile.h"
#include "runtime/platform/memory.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

inline constexpr double kSecond = 1e9;  // in nanoseconds

// As many runs of `run_ns` as fit into `budget_ns`, within bounds.
size_t runs_that_fit(double budget_ns, uint64_t run_ns, size_t least, size_t most);

// Warm-ups for runs of `run_ns`: enough for a trial of threads (run_trial.h) to be over.
size_t warm_ups_for(uint64_t run_ns);

struct ProfiledRuns {
  size_t warmup = 0;
  // Median traced / median untraced - 1; unset after few runs.
  std::optional<double> trace_overhead;
  platform::ResidentMemory memory;  // of the process, after the last run
};

// `method` must have been loaded with `trace` as its tracer. Throws ToolError.
ProfiledRuns run_profiled(Method& method, InputSet& inputs, TraceBuffer& trace,
                          const RunnerOptions& options);

}  // namespace vitrine::tools
