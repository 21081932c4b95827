// Executes a method within the limit of --timeout.
#pragma once

#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// Executes `method`, which must have been loaded by a session with session_options(options),
// because those options set the limit. Throws ToolError.
void execute(Method& method, const RunnerOptions& options);

}  // namespace vitrine::tools
