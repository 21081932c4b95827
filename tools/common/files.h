#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/platform/new_file.h"

namespace vitrine::tools {

// Reads a file, or at most 256 MiB of a pipe or device. Throws a ToolError that names the file.
std::vector<std::byte> read_file(const std::filesystem::path& path);

// Writes a temporary file in the same folder and renames it (platform::NewFile), so that a failed
// run leaves the old file unchanged. Follows symbolic links. Writes directly to a path that is not
// a regular file, such as /dev/null.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws ToolError if an output is also an input or another output. Ignores empty paths, devices
// and pipes.
void check_outputs(std::span<const std::filesystem::path> outputs,
                   std::span<const std::filesystem::path> inputs);

// Throws ToolError if flushing or an earlier write failed, for example because the disk is full.
void flush_standard_output();

// Prints a text that may contain names and values from files. Replaces bytes that could control the
// terminal (see make_printable()).
void print_text(std::FILE* file, std::string text);

// Writes a file piece by piece, as write_file() does. The destructor removes the file unless
// commit() was called. Throws a ToolError that names the file.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text);
  // Writes all buffered bytes. append() must not be called afterwards.
  void finish();
  // The file with the bytes until commit(). Empty if the target is a device or a pipe.
  std::filesystem::path temporary_path() const {
    const char* path = file_.temporary_path();
    return path == nullptr ? std::filesystem::path() : path;
  }
  // Calls finish(), and gives the file its final name.
  void commit();
  uint64_t size() const { return size_; }

 private:
  void write_buffered();

  platform::NewFile file_;
  std::vector<std::byte> buffered_;
  uint64_t size_ = 0;
};

// A group of files. All files are written before any file gets its final name.
class NewFiles {
 public:
  // The reference stays valid when more files are added.
  NewFile& add(const std::filesystem::path& path) { return files_.emplace_back(path); }
  void finish();
  void commit();

 private:
  std::deque<NewFile> files_;
};

}  // namespace vitrine::tools
