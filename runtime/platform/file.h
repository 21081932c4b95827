// Files: reading and read-only mapping. With clock.h, the only calls to the operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/core/error.h"

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
  // Fills `out` entirely or fails with AccessFailed.
  Error read(uint64_t offset, std::span<std::byte> out) const;

 private:
  friend class Mapping;
  File(int descriptor, uint64_t size) : descriptor_(descriptor), size_(size) {}
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

// A whole file in the address space, read-only and private. The file may be closed afterwards.
class Mapping {
 public:
  // This many bytes past the end are readable too: vector code may load a whole register there.
  static constexpr size_t kReadableSlack = 128;

  static Result<Mapping> map(const File& file);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit Mapping(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace vitrine::platform
