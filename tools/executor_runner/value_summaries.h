// Summarizes the values of a program's operators (--value_summaries).
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs options.model once and reports a summary of each operator's values. Does not store the
// values, so the required memory does not depend on their sizes. Throws ToolError.
void run_value_summaries(const RunnerOptions& options);

}  // namespace vitrine::tools
