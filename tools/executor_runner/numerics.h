// Measures the errors of a program's operators against a reference (--numerics).
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs options.model once and options.reference twice. The reference is a program, or an exported
// model that is lowered in memory without a backend. Writes the report and returns 0, or
// kExitBeyondLimit if the SQNR of the error that an operator makes is below --fail_below. With
// options.compare, measures that program too and writes both results side by side; the limit
// applies to both programs. Throws ToolError.
int run_numerics(const RunnerOptions& options);

}  // namespace vitrine::tools
