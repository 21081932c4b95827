// Lowers a model in memory, for tools that run it directly.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace vitrine::tools {

// Returns a program with its record. Lowers for XNNPACK as `pte_lower MODEL --backend xnnpack`
// does. Throws a HostError.
std::vector<std::byte> lower_in_memory(const std::filesystem::path& model);

}  // namespace vitrine::tools
