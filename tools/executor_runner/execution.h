// Executes a method within the limit of --timeout.
#pragma once

#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// Executes `method`. A session with session_options(options) must have loaded it, because the
// session's options set the time limit. Throws ToolError.
void execute(Method& method, const RunnerOptions& options);

}  // namespace vitrine::tools
