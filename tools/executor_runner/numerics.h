// Measures the errors of a program's operators against a reference (--numerics).
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs options.model and, twice, options.reference: a program, or an exported model that is lowered
// in memory without a backend. Writes the report and returns 0, or kExitBeyondLimit if an operator
// makes an error below --fail_below. With options.compare, measures that program too and writes
// both side by side; either can be below the limit. Throws ToolError.
int run_numerics(const RunnerOptions& options);

}  // namespace vitrine::tools
