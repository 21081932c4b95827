#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vitrine/error.h"

namespace vitrine::platform {

// An open file. Thread-safe: each read gets its own offset.
class File {
 public:
  // Opens a regular file. Errors are NotFound and AccessFailed, with the system's reason.
  static Result<File> open(const char* path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  uint64_t size() const { return size_; }
  // A hash of the file's identity, size and modification times when it was opened. Other files and
  // later versions of this file have different stamps. Never 0.
  uint64_t stamp() const { return stamp_; }
  // Modification time in nanoseconds since 1970.
  uint64_t modified_ns() const { return modified_ns_; }
  // True if only this user and root can write to the file.
  bool is_private() const { return private_; }
  // False if the last change is so recent that another change could get the same modification time
  // and thus the same stamp.
  bool is_settled() const { return settled_; }
  // Sets the modification time, in whole seconds since 1970. Does nothing if the file has changed
  // since it was opened, or if the system does not allow the change.
  void seal(uint64_t modified_s) const;
  // Returns NotSupported if the file is too large for a 32-bit address space.
  Error check_addressable() const;
  // Fills `out` completely, or returns AccessFailed.
  Error read(uint64_t offset, std::span<std::byte> out) const;

 private:
  friend class Mapping;
  File() = default;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  uint64_t stamp_ = 0;
  uint64_t modified_ns_ = 0;
  bool private_ = false;
  bool settled_ = false;
};

// Maps an entire file, read-only and private, with slack (kReadableSlack). The File may be closed
// afterward.
class Mapping {
 public:
  static Result<Mapping> map(const File& file);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::span<const std::byte> bytes() const { return bytes_; }
  // The file's stamp, or 0 if File::is_settled() was false.
  uint64_t stamp() const { return stamp_; }
  // Lets the system drop the pages inside the range. The next read loads these pages again. The
  // range must be inside bytes().
  void release(size_t offset, size_t size) const;

 private:
  Mapping(std::span<const std::byte> bytes, uint64_t stamp) : bytes_(bytes), stamp_(stamp) {}
  std::span<const std::byte> bytes_;
  uint64_t stamp_ = 0;
};

// Hashes two numbers for stamps. Not secure against attackers.
uint64_t mix(uint64_t a, uint64_t b);

}  // namespace vitrine::platform
