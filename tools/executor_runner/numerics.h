// Measures the errors of a program's operators against a reference (--numerics).
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs options.model once and options.reference twice, and writes the report. The reference is a
// program, or an exported model that is lowered without a backend. With options.compare, measures
// two programs and writes both results side by side.
//
// Returns kExitBeyondLimit if the SQNR of an operator's own error, without the error of its inputs,
// is below --fail_below. Otherwise returns 0. Throws ToolError.
int run_numerics(const RunnerOptions& options);

}  // namespace vitrine::tools
