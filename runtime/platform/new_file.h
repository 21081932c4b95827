// Writes a file atomically: readers see the complete new file or the old file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/error.h"

namespace vitrine::platform {

// A file that is being written under a temporary name in the folder of its path. commit() renames
// the file. Not thread-safe. If several processes write the same file, the last commit() wins.
class NewFile {
 public:
  enum class Kind : uint8_t {
    kPrivate,  // only the owner can read it; AccessFailed if the path is not a regular file
    kOutput,   // permissions follow the umask; devices and pipes are written in place
  };
  // All functions may return AccessFailed, with the path and the system's reason, or
  // MemoryAllocationFailed. Symbolic links are followed, even if their target does not exist yet.
  static Result<NewFile> create(const char* path, Kind kind);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // removes an uncommitted file

  Error write(std::span<const std::byte> bytes);
  // Flushes the file to disk and sets its modification time, in whole seconds since 1970. Without
  // this call, a power failure may leave an incomplete file, even after commit().
  Error seal(uint64_t modified_s);
  // Closes the file. Some file systems report only here that the disk is full.
  Error finish();
  // The temporary path of the file before commit(). Null if the file is written in place.
  const char* temporary_path() const { return temporary_.empty() ? nullptr : temporary_.data(); }
  // Calls finish() if the caller did not, and renames the file to its path.
  Error commit();

 private:
  NewFile() = default;
  int descriptor_ = -1;
  CheckedVector<char> path_;       // zero-terminated
  CheckedVector<char> temporary_;  // zero-terminated; empty without a temporary file
};

uint64_t wall_clock_s();

}  // namespace vitrine::platform
