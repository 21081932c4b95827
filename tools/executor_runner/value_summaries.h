#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Implements --value_summaries: runs options.model once and reports a summary of each operator's
// values. Does not store the values, so the run needs little memory. Throws ToolError.
void run_value_summaries(const RunnerOptions& options);

}  // namespace vitrine::tools
