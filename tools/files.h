// Whole files, in and out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace vitrine::tools {

// Throws ToolError naming the file.
std::vector<std::byte> read_file(const std::filesystem::path& path);

// Through a temporary name beside it and a rename: a reader never sees half a file, and a failed
// run leaves the old one alone.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace vitrine::tools
