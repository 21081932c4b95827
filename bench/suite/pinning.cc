#include "bench/suite/pinning.h"

#include <sched.h>

#include <fmt/format.h>

#include "tools/common/tool_error.h"

namespace vitrine::bench {

std::string pin_to(const std::vector<size_t>& cpus) {
  cpu_set_t allowed;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  const bool knows_allowed = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  for (const size_t cpu : cpus) {
    if (cpu >= CPU_SETSIZE || (knows_allowed && !CPU_ISSET(cpu, &allowed))) {
      throw tools::ToolError(fmt::format("--pin: this process may not run on CPU {}", cpu));
    }
    CPU_SET(cpu, &wanted);
  }
  if (sched_setaffinity(0, sizeof wanted, &wanted) != 0) {
    throw tools::ToolError("--pin: the system rejected these CPUs");
  }
  return fmt::format("CPU{} {}", cpus.size() == 1 ? "" : "s", fmt::join(cpus, ", "));
}

}  // namespace vitrine::bench
