// Runs a method for its profile. The first warm-up run is traced. After the warm-up, traced and
// untraced runs alternate, to measure the overhead of tracing.
#pragma once

#include <optional>
#include <string>

#include "inspector/join/profile.h"
#include "runtime/extension/trace_buffer.h"
#include "runtime/platform/memory.h"
#include "tools/common/cpu_use.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

inline constexpr double kSecond = 1e9;  // in nanoseconds

// Returns how many runs of `run_ns` fit into `budget_ns`, clamped to min_runs and max_runs.
size_t num_runs_within(double budget_ns, uint64_t run_ns, size_t min_runs, size_t max_runs);

// Returns the number of warm-up runs if a run takes `run_ns`.
size_t num_warmup_runs(uint64_t run_ns);

// Returns "interrupted after 7 of 50 runs".
std::string interrupted_text(size_t done, size_t runs);

struct ProfiledRuns {
  size_t warmup = 0;
  // Overhead of tracing: median traced time / median untraced time - 1. Unset with fewer than five
  // traced runs.
  std::optional<double> trace_overhead;
  // Time to read the processor's counter in a traced run, divided by the median untraced time.
  std::optional<double> trace_floor;
  platform::ResidentMemory memory;  // memory of the process after the last run
  CpuUse cpu;                       // processor use of the runs after the warm-up
  std::string interrupted;          // a warning if Ctrl-C ended the runs; else empty
};

// Runs `method` for a profile. `trace` must be the method's tracer. Throws ToolError.
ProfiledRuns run_profiled(Method& method, InputSet& inputs, TraceBuffer& trace,
                          const RunnerOptions& options);

}  // namespace vitrine::tools
