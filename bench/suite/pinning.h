#pragma once

#include <string>
#include <vector>

namespace vitrine::bench {

// Restricts the calling thread, and its later threads and processes, to `cpus`. Returns "CPU 1" or
// "CPUs 0, 2". Throws a ToolError if this process may not run on one of these CPUs.
std::string pin_to(const std::vector<size_t>& cpus);

}  // namespace vitrine::bench
