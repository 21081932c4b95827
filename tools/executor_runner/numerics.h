// Measures the errors of a program's operators against a reference (--numerics).
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs options.model once and options.reference twice. The reference is a program, or an exported
// model that is lowered in memory without a backend. Writes the report and returns 0, or
// kExitBeyondLimit if the SQNR of an operator's own error is below --fail_below. With
// options.compare, also measures that program and writes both results side by side. The limit
// applies to both programs. Throws ToolError.
int run_numerics(const RunnerOptions& options);

}  // namespace vitrine::tools
