// Runs two programs in turn on the same inputs, and reports what differs.
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// The exit code when --fail_above is exceeded.
inline constexpr int kExitSlower = 2;

// options.compare is set. 0, or kExitSlower. Throws ToolError.
int run_comparison(const RunnerOptions& options);

}  // namespace vitrine::tools
