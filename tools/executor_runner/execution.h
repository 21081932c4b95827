// Executes a method within the limit of --timeout.
#pragma once

#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// `method` was loaded by a session with session_options(options), which sets the limit. Throws
// ToolError.
void execute(Method& method, const RunnerOptions& options);

}  // namespace vitrine::tools
