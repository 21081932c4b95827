// Reads and writes whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace vitrine::tools {

// Also what a pipe or a device gives, up to 256 MiB. Throws ToolError naming the file.
std::vector<std::byte> read_file(const std::filesystem::path& path);

// Writes to a temporary file beside it and renames that. Readers never see a partial file, and a
// failed run leaves the old file unchanged. Links are followed. What is not a regular file, such as
// /dev/null or a pipe, is written to as it is.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws ToolError if an output is also an input, or two outputs are one file: a slip on the
// command line must not cost a model. Empty paths stand for nothing; devices and pipes may be given
// twice.
void check_outputs(std::span<const std::filesystem::path> outputs,
                   std::span<const std::filesystem::path> inputs);

// Writes what is buffered for standard output. Throws ToolError if that, or an earlier write to it,
// fails: a full disk must not look like success.
void flush_standard_output();

// The same as write_file for bytes that come piece by piece. An uncommitted file is removed. Throws
// ToolError naming the file.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void append(std::span<const std::byte> bytes);
  // Gives the file its final name.
  void commit();
  uint64_t size() const { return size_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty if the file is written in place, or is committed
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace vitrine::tools
