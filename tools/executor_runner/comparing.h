// Runs two programs in turn on the same inputs, and reports what differs.
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// The exit code when --fail_above is exceeded, or an op is below --min_sqnr.
inline constexpr int kExitBeyondLimit = 2;

// options.compare is set. Times, op by op; with --debug_outputs the ops' outputs instead. 0, or
// kExitBeyondLimit. Throws ToolError.
int run_comparison(const RunnerOptions& options);

}  // namespace vitrine::tools
