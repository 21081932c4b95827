#pragma once

#include "tools/executor_runner/options.h"

namespace vitrine::tools {

// Profiles the program with each number of threads in options.sweep, and reports the times side by
// side. Throws HostError.
void run_sweep(const RunnerOptions& options);

}  // namespace vitrine::tools
