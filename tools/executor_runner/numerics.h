// Measures the errors of a program's operators against a reference (--numerics).
#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Runs options.model once and options.reference twice, and writes the report. The reference is a
// program, or an exported model that is lowered in memory without a backend. If options.compare is
// set, also measures the program that it names, and writes both results side by side.
//
// Returns 0, or kExitBeyondLimit if the SQNR of an operator in either program is below
// --fail_below. This SQNR covers the error that the operator itself makes, without the error of its
// inputs. Throws ToolError.
int run_numerics(const RunnerOptions& options);

}  // namespace vitrine::tools
