// Lowers a model in memory, for tools that run it directly.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace vitrine::tools {

// Lowers a model as `pte_lower --method METHOD=MODEL --backend BACKEND` does, or without a backend
// if `backend` is null. Returns a program that contains its record. Throws a HostError.
std::vector<std::byte> lower_in_memory(const std::filesystem::path& model,
                                       const std::string& method, const char* backend);

}  // namespace vitrine::tools
