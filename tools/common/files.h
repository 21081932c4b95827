// Reads and writes whole files.
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

// Returns the bytes of a file, a pipe or a device. Throws ToolError, which names the file. Pipes
// and devices may have at most 256 MiB.
std::vector<std::byte> read_file(const std::filesystem::path& path);

// Writes a temporary file in the same folder and renames it (platform::NewFile). Readers never see
// a partial file, and a failed run leaves the old file unchanged. Follows symbolic links. Writes
// directly to a path that is not a regular file, such as /dev/null or a pipe.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws ToolError if an output is also an input, or if two outputs are the same file. Ignores
// empty paths. Devices and pipes may be named twice.
void check_outputs(std::span<const std::filesystem::path> outputs,
                   std::span<const std::filesystem::path> inputs);

// Flushes standard output. Throws ToolError if flushing or an earlier write failed, for example
// because the disk is full.
void flush_standard_output();

// Prints a text that may contain names and values from files. Replaces bytes that could control the
// terminal (see make_printable()). Tools print all messages and values with this function.
void print_text(std::FILE* file, std::string text);

// Writes a file in the same way as write_file(), but piece by piece. The destructor removes the
// file unless commit() was called. Throws ToolError, which names the file.
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
  // The path of the temporary file that holds the bytes until commit(). Empty if the target is a
  // device or a pipe.
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

// A group of files. No file gets its final name before all files are written.
class NewFiles {
 public:
  // The returned reference stays valid when more files are added.
  NewFile& add(const std::filesystem::path& path) { return files_.emplace_back(path); }
  // Writes all buffered bytes to the files.
  void finish();
  void commit();

 private:
  std::deque<NewFile> files_;
};

}  // namespace vitrine::tools
