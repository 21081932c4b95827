// Keeps the suite on some of the machine's CPUs.
#pragma once

#include <string>
#include <vector>

namespace vitrine::bench {

// For the calling thread, and for all threads and processes that it starts later. Returns
// "CPU 1" or "CPUs 0, 2". ToolError if this process may not run on one of them.
std::string pin_to(const std::vector<size_t>& cpus);

}  // namespace vitrine::bench
