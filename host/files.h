// Whole files, in and out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
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

// The same for bytes that come piece by piece. What is not committed goes without a trace. Throws
// ToolError naming the file.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void append(std::span<const std::byte> bytes);
  // The file has its name from here on.
  void commit();
  uint64_t size() const { return size_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace vitrine::tools
