// Reads and writes whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/platform/new_file.h"

namespace vitrine::tools {

// Also what a pipe or a device gives, up to 256 MiB. Throws ToolError naming the file.
std::vector<std::byte> read_file(const std::filesystem::path& path);

// Writes to a temporary file beside it and renames that (platform::NewFile). Readers never see a
// partial file, and a failed run leaves the old file unchanged. Links are followed. What is not a
// regular file, such as /dev/null or a pipe, is written to as it is.
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
  explicit NewFile(const std::filesystem::path& path);

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text);
  // Ends the writing; append() may not follow.
  void finish();
  // Gives the file, finished or not, its final name.
  void commit();
  uint64_t size() const { return size_; }

 private:
  void write_buffered();

  platform::NewFile file_;
  std::vector<std::byte> buffered_;
  uint64_t size_ = 0;
};

// Files that belong together: none has its final name before all are written.
class NewFiles {
 public:
  // The reference stays valid.
  NewFile& add(const std::filesystem::path& path) { return files_.emplace_back(path); }
  void commit();

 private:
  std::deque<NewFile> files_;
};

}  // namespace vitrine::tools
