// Runs two programs alternately on the same inputs and reports the differences.
#pragma once

#include "inspector/join/profile.h"
#include "tools/common/messages.h"
#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Compares options.model with options.compare, which must be set: the times of ops or, with
// --debug_outputs, their outputs. Returns kExitBeyondLimit if --fail_above is exceeded or an op's
// SQNR is below --min_sqnr, else 0. Throws ToolError.
int run_comparison(const RunnerOptions& options);

// A is the stored profile or trace in options.compare. B is this run.
int compare_with_stored(const inspector::Profile& run, const RunnerOptions& options);

}  // namespace vitrine::tools
