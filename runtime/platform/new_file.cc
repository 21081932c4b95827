#include "runtime/platform/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "runtime/platform/clock.h"

namespace vitrine::platform {
namespace {

Error failed(const char* path, const char* what) {
  return Error::make(ErrorCode::kAccessFailed, "%s: %s: %s", path, what, std::strerror(errno));
}

timespec at_second(uint64_t second) { return {static_cast<time_t>(second), 0}; }

// If `path` names a symbolic link, changes `path` to the link's target. commit() would otherwise
// replace the link.
Error follow_links(CheckedVector<char>& path) {
  constexpr int kMaxLinks = 40;  // as in Linux
  char target[PATH_MAX];
  for (int links = 0; links < kMaxLinks; ++links) {
    const ssize_t size = ::readlink(path.data(), target, sizeof target);
    if (size < 0) return Error();  // not a link
    size_t folder = 0;             // length of the link's folder, where a relative target begins
    for (size_t i = 0; target[0] != '/' && path[i] != '\0'; ++i) {
      if (path[i] == '/') folder = i + 1;
    }
    VITRINE_RETURN_IF_ERROR(path.resize(folder));
    VITRINE_RETURN_IF_ERROR(path.append({target, static_cast<size_t>(size)}));
    VITRINE_RETURN_IF_ERROR(path.push_back('\0'));
  }
  errno = ELOOP;
  return failed(path.data(), "cannot create");
}

}  // namespace

Result<NewFile> NewFile::create(const char* path, Kind kind) {
  NewFile file;
  VITRINE_RETURN_IF_ERROR(file.path_.append({path, std::strlen(path) + 1}));
  struct stat there;
  if (::stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
    if (kind == Kind::kPrivate || S_ISDIR(there.st_mode)) {
      return Error::make(ErrorCode::kAccessFailed, "%s: cannot create: not a regular file", path);
    }
    file.descriptor_ = ::open(path, O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) return failed(path, "cannot create");
    return file;
  }
  VITRINE_RETURN_IF_ERROR(follow_links(file.path_));
  CheckedVector<char> temporary;
  constexpr size_t kSuffixBytes = 8;
  const size_t length = file.path_.size() - 1;
  VITRINE_RETURN_IF_ERROR(temporary.append({file.path_.data(), length}));
  VITRINE_RETURN_IF_ERROR(temporary.resize(length + kSuffixBytes));
  const mode_t mode = kind == Kind::kPrivate ? 0600 : 0666;
  auto number = static_cast<uint32_t>(now_ns());
  do {
    std::snprintf(temporary.data() + length, kSuffixBytes, ".%06x", ++number & 0xffffff);
    file.descriptor_ = ::open(temporary.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (file.descriptor_ < 0 && errno == EEXIST);
  if (file.descriptor_ < 0) return failed(file.path_.data(), "cannot create");
  file.temporary_ = std::move(temporary);
  return file;
}

NewFile::NewFile(NewFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.data());
}

Error NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;  // a retry could loop forever
    if (count <= 0) return failed(path_.data(), "cannot write");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return Error();
}

Error NewFile::seal(uint64_t modified_s) {
  const timespec times[2] = {at_second(modified_s), at_second(modified_s)};
  if (::fsync(descriptor_) != 0) return failed(path_.data(), "cannot write to disk");
  if (::futimens(descriptor_, times) != 0)
    return failed(path_.data(), "cannot set the modification time");
  return Error();
}

Error NewFile::finish() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor < 0 || ::close(descriptor) == 0) return Error();
  return failed(path_.data(), "cannot write");
}

Error NewFile::commit() {
  VITRINE_RETURN_IF_ERROR(finish());
  if (temporary_.empty()) return Error();
  if (::rename(temporary_.data(), path_.data()) != 0) return failed(path_.data(), "cannot rename");
  temporary_.clear();
  return Error();
}

uint64_t wall_clock_s() { return static_cast<uint64_t>(std::time(nullptr)); }

}  // namespace vitrine::platform
