// Runs two programs alternately on the same inputs and reports the differences.
#pragma once

#include "inspector/join/profile.h"
#include "tools/common/messages.h"
#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Compares the ops of options.model with the ops of options.compare, which must be set. Compares
// the times or, with --debug_outputs, the outputs. Returns 0, or kExitBeyondLimit if --fail_above
// is exceeded or the SQNR of an op is below --min_sqnr. Throws ToolError.
int run_comparison(const RunnerOptions& options);

// Compares A with B. A is the stored profile or trace in the file options.compare. B is a profile
// of this run.
int compare_with_stored(const inspector::Profile& run, const RunnerOptions& options);

}  // namespace vitrine::tools
