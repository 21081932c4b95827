#include "runtime/platform/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

namespace vitrine::platform {
namespace {

// mkostemp replaces the letters X by a unique ending.
constexpr std::string_view kEnding = ".XXXXXX";

timespec at_second(uint64_t second) { return {static_cast<time_t>(second), 0}; }

}  // namespace

Result<NewFile> NewFile::create(const char* path) {
  struct stat there;
  if (::stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
    return Error::make(ErrorCode::kAccessFailed, "%s cannot be written: not a regular file", path);
  }
  char target[PATH_MAX];  // the file itself is replaced, not the link to it
  if (::realpath(path, target) != nullptr) path = target;
  const std::string_view name = path;
  NewFile file;
  VITRINE_RETURN_IF_ERROR(file.path_.append({path, name.size() + 1}));
  VITRINE_RETURN_IF_ERROR(file.temporary_.append(name));
  VITRINE_RETURN_IF_ERROR(file.temporary_.append({kEnding.data(), kEnding.size() + 1}));
  file.descriptor_ = ::mkostemp(file.temporary_.data(), O_CLOEXEC);  // of mode 0600
  if (file.descriptor_ < 0) {
    return Error::make(ErrorCode::kAccessFailed, "%s cannot be written: %s", path,
                       std::strerror(errno));
  }
  return file;
}

NewFile::NewFile(NewFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.data());
}

Error NewFile::failed(const char* what) const {
  return Error::make(ErrorCode::kAccessFailed, "%s: %s: %s", path_.data(), what,
                     std::strerror(errno));
}

Error NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("writing");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return Error();
}

Error NewFile::commit(uint64_t modified_s) {
  const timespec times[2] = {at_second(modified_s), at_second(modified_s)};
  // Else a crash may leave a file of the right size and time, without its bytes.
  if (::fsync(descriptor_) != 0) return failed("writing to disk");
  if (::futimens(descriptor_, times) != 0) return failed("setting its time");
  if (::rename(temporary_.data(), path_.data()) != 0) return failed("renaming");
  ::close(std::exchange(descriptor_, -1));
  return Error();
}

uint64_t wall_clock_s() { return static_cast<uint64_t>(std::time(nullptr)); }

}  // namespace vitrine::platform
