#include "tools/executor_runner/execution.h"

#include <fmt/format.h>

#include "runtime/platform/clock.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {

void execute(Method& method, const RunnerOptions& options) {
  const uint64_t start = platform::now_ns();
  const Error error = method.execute();
  if (error.ok()) return;
  const auto ns = static_cast<double>(platform::now_ns() - start);
  const ToolError failure(error);
  // All limits give the same error code. The elapsed time shows if --timeout was exceeded. The
  // factor 0.9 allows for differences between clocks.
  const bool is_late = options.timeout && ns > 0.9e9 * *options.timeout;
  if (!is_late || error.code() != ErrorCode::kOutOfResources) throw failure;
  throw ToolError(fmt::format("{}; raise --timeout ({} s)", failure.what(), *options.timeout),
                  error.code());
}

}  // namespace vitrine::tools
