// Runs two programs in turn on the same inputs and reports the differences.
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// The exit code when --fail_above is exceeded, or an op is below --min_sqnr.
inline constexpr int kExitBeyondLimit = 2;

// options.compare must be set. Compares times op by op, or with --debug_outputs the ops' outputs.
// Returns 0 or kExitBeyondLimit. Throws ToolError.
int run_comparison(const RunnerOptions& options);

}  // namespace vitrine::tools
