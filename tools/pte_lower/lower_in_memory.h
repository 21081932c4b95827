// Lowers a model in memory, for tools that run it directly.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace vitrine::tools {

// Lowers a model as `pte_lower --method METHOD=MODEL --backend BACKEND` does. If `backend` is null,
// no call is delegated. The program contains its record, from which profiles take the source ops
// and modules. Throws a HostError.
std::vector<std::byte> lower_in_memory(const std::filesystem::path& model,
                                       const std::string& method, const char* backend);

}  // namespace vitrine::tools
