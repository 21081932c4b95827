#pragma once

#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// Executes `method` within --timeout. A session with session_options(options) must have loaded the
// method. Throws ToolError.
void execute(Method& method, const RunnerOptions& options);

}  // namespace vitrine::tools
