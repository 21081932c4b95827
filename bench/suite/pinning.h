// Restricts the suite to a subset of the machine's CPUs.
#pragma once

#include <string>
#include <vector>

namespace vitrine::bench {

// Restricts the calling thread, and all threads and processes that it starts later, to `cpus`.
// Returns "CPU 1" or "CPUs 0, 2". Throws a ToolError if this process may not run on one of these
// CPUs.
std::string pin_to(const std::vector<size_t>& cpus);

}  // namespace vitrine::bench
