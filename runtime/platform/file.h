// Files: reading and read-only mapping. With clock.h, the only calls to the operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vitrine/error.h"

namespace vitrine::platform {

// An open file. Thread-safe: reads carry their own offset.
class File {
 public:
  // NotFound or AccessFailed, with the system's reason. Regular files only.
  static Result<File> open(const char* path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  uint64_t size() const { return size_; }
  // Stands for the file's identity, size and times of change when it was opened: another file, or
  // the same one after a change, has another stamp. Never 0.
  uint64_t stamp() const { return stamp_; }
  // Time of the last change of its bytes, in ns since 1970.
  uint64_t modified_ns() const { return modified_ns_; }
  // Whether only this user (and the system's) can write to it.
  bool is_private() const { return private_; }
  // Whether a change after it was opened would give another stamp: not if the last one is so recent
  // that the file system may give both the same time.
  bool is_settled() const { return settled_; }
  // Sets the time of the last change, in whole seconds since 1970, unless the file has changed
  // since it was opened. Best effort: a file of somebody else stays as it is.
  void seal(uint64_t modified_s) const;
  // NotSupported if there are not addresses for all bytes, and some to spare: on 32-bit machines.
  Error check_addressable() const;
  // Fills `out` entirely or fails with AccessFailed.
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

// A whole file in the address space, read-only and private, with slack (kReadableSlack). The file
// may be closed afterwards.
class Mapping {
 public:
  static Result<Mapping> map(const File& file);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::span<const std::byte> bytes() const { return bytes_; }
  // The file's; 0 if it was not settled.
  uint64_t stamp() const { return stamp_; }
  // Lets the system drop the pages inside the range until they are read again. `offset` + `size` <=
  // bytes().size().
  void release(size_t offset, size_t size) const;

 private:
  Mapping(std::span<const std::byte> bytes, uint64_t stamp) : bytes_(bytes), stamp_(stamp) {}
  std::span<const std::byte> bytes_;
  uint64_t stamp_ = 0;
};

// One number of two, in which every bit of both counts. For stamps, not against attackers.
uint64_t mix(uint64_t a, uint64_t b);

}  // namespace vitrine::platform
