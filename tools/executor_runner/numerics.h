// Measures the errors of a program's operators against a reference (--numerics).
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs options.model and, twice, options.reference: a program, or an exported model that is lowered
// in memory without a backend. Writes the report and returns 0, or kExitBeyondLimit if an operator
// makes an error below --fail_below. Throws ToolError.
int run_numerics(const RunnerOptions& options);

// Runs options.model once and reports a summary of each operator's values (--value_summaries).
// Keeps no values, so that memory does not depend on their sizes. Throws ToolError.
void run_value_summaries(const RunnerOptions& options);

}  // namespace vitrine::tools
