#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace vitrine::tools {

// Lowers a model as `pte_lower --method METHOD=MODEL --backend BACKEND` does, or without delegates
// if `backend` is null. The program contains its record for profiles. Throws a HostError.
std::vector<std::byte> lower_in_memory(const std::filesystem::path& model,
                                       const std::string& method, const char* backend);

}  // namespace vitrine::tools
