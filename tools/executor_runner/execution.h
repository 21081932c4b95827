// Executes a method within the limit of --timeout.
#pragma once

#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// Executes `method`. Precondition: a session with session_options(options), which contain the time
// limit, loaded the method. Throws ToolError.
void execute(Method& method, const RunnerOptions& options);

}  // namespace vitrine::tools
