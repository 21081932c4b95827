// Writing a file so that readers see the whole of it or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/error.h"

namespace vitrine::platform {

// A file in the making, beside its path. The former file stays at the path until commit(), and
// whoever has it open keeps it. Not thread-safe; several processes may make the same file: the last
// to commit wins.
class NewFile {
 public:
  enum class Kind : uint8_t {
    kPrivate,  // readable by its owner only; AccessFailed if anything but a regular file is there
    kOutput,   // readable as the user's umask says; devices and pipes are written in place
  };
  // AccessFailed with the path and the system's reason, as for all calls; MemoryAllocationFailed.
  // Links are followed, to files that are still missing too.
  static Result<NewFile> create(const char* path, Kind kind);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // removes an uncommitted file

  // Appends.
  Error write(std::span<const std::byte> bytes);
  // Brings all to the disk and sets the time of modification, in whole seconds since 1970. Without
  // it, a power failure after commit() may leave a file without its bytes.
  Error seal(uint64_t modified_s);
  // Ends the writing. Some file systems say only here that there is no room.
  Error finish();
  // Puts the file, finished or not, at its path.
  Error commit();

 private:
  NewFile() = default;
  int descriptor_ = -1;
  CheckedVector<char> path_;       // zero-terminated, as the other
  CheckedVector<char> temporary_;  // empty if nothing is to be renamed or removed
};

// Now, in seconds since 1970.
uint64_t wall_clock_s();

}  // namespace vitrine::platform
