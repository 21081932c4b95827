// Writing a file so that readers see the whole of it or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/error.h"

namespace vitrine::platform {

// A file in the making, beside its path and readable by its owner only. Nothing is at the path
// until commit(), and whoever has the former file open keeps it. Not thread-safe; several processes
// may make the same file: the last to commit wins.
class NewFile {
 public:
  // AccessFailed with the system's reason, as for all calls, or if anything but a regular file
  // is there; MemoryAllocationFailed. Links to files are followed.
  static Result<NewFile> create(const char* path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // removes an uncommitted file

  // Appends.
  Error write(std::span<const std::byte> bytes);
  // Sets the time of modification, in whole seconds since 1970, and puts the file at its path.
  Error commit(uint64_t modified_s);

 private:
  NewFile() = default;
  Error failed(const char* what) const;

  int descriptor_ = -1;
  CheckedVector<char> path_;  // zero-terminated, as the other
  CheckedVector<char> temporary_;
};

// Now, in seconds since 1970.
uint64_t wall_clock_s();

}  // namespace vitrine::platform
