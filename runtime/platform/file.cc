#include "runtime/platform/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <utility>

#include "runtime/core/checked_math.h"
#include "vitrine/tensor.h"

namespace vitrine::platform {
namespace {

uint64_t time_of(const timespec& stamp) {
  return static_cast<uint64_t>(stamp.tv_sec) * 1'000'000'000u +
         static_cast<uint64_t>(stamp.tv_nsec);
}

uint64_t stamp_of(const struct stat& status) {
  uint64_t stamp = mix(static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino));
  stamp = mix(stamp, static_cast<uint64_t>(status.st_size));
  stamp = mix(stamp, time_of(status.st_mtim));
  stamp = mix(stamp, time_of(status.st_ctim));
  return stamp != 0 ? stamp : 1;
}

}  // namespace

// This is the finalizer of SplitMix64.
uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

Result<File> File::open(const char* path) {
  // Without O_NONBLOCK, opening a pipe without a writer would block.
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int reason = errno;
    return Error::make(reason == ENOENT ? ErrorCode::kNotFound : ErrorCode::kAccessFailed, "%s: %s",
                       path, std::strerror(reason));
  }
  struct stat status;
  const bool is_known = ::fstat(descriptor, &status) == 0;
  if (!is_known || !S_ISREG(status.st_mode)) {
    const char* const why = is_known ? "not a regular file" : std::strerror(errno);
    ::close(descriptor);
    return Error::make(ErrorCode::kAccessFailed, "%s: %s", path, why);
  }
  File file;
  file.descriptor_ = descriptor;
  file.size_ = static_cast<uint64_t>(status.st_size);
  file.stamp_ = stamp_of(status);
  file.modified_ns_ = time_of(status.st_mtim);
  // The coarsest file systems store times in units of two seconds.
  constexpr uint64_t kMaxTimeUnitNs = 2'000'000'000;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t changed = std::max(time_of(status.st_mtim), time_of(status.st_ctim));
  file.settled_ = changed + kMaxTimeUnitNs < time_of(now);
  file.private_ = (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
                  (status.st_uid == ::geteuid() || status.st_uid == 0);
  return file;
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      stamp_(other.stamp_),
      modified_ns_(other.modified_ns_),
      private_(other.private_),
      settled_(other.settled_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(stamp_, other.stamp_);
  std::swap(modified_ns_, other.modified_ns_);
  std::swap(private_, other.private_);
  std::swap(settled_, other.settled_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::seal(uint64_t modified_s) const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0 || stamp_of(status) != stamp_) return;
  const timespec second{static_cast<time_t>(modified_s), 0};
  const timespec times[2] = {second, second};
  [[maybe_unused]] const int ignored = ::futimens(descriptor_, times);
}

Error File::check_addressable() const {
  if (sizeof(size_t) >= sizeof(size_) || size_ <= std::numeric_limits<size_t>::max() / 2) {
    return Error();
  }
  return Error::make(ErrorCode::kNotSupported,
                     "the file has %llu bytes, which is too much for %zu-bit addresses",
                     static_cast<unsigned long long>(size_), 8 * sizeof(size_t));
}

Error File::read(uint64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::pread(descriptor_, out.data() + done, out.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return Error::make(ErrorCode::kAccessFailed, "cannot read %zu bytes at offset %llu: %s",
                         out.size(), static_cast<unsigned long long>(offset),
                         count == 0 ? "the file is too short" : std::strerror(errno));
    }
    done += static_cast<size_t>(count);
  }
  return Error();
}

namespace {

size_t mapped_bytes(size_t file_size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return round_up(file_size + kReadableSlack, page);
}

}  // namespace

Result<Mapping> Mapping::map(const File& file) {
  const uint64_t stamp = file.is_settled() ? file.stamp_ : 0;
  if (file.size_ == 0) return Mapping({}, stamp);
  VITRINE_RETURN_IF_ERROR(file.check_addressable());
  const auto size = static_cast<size_t>(file.size_);
  // Maps zero pages, and then the file over these pages. The zero pages after the file's end are
  // the slack.
  const size_t reserved = mapped_bytes(size);
  void* address =
      ::mmap(nullptr, reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address != MAP_FAILED && ::mmap(address, size, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                                      file.descriptor_, 0) != MAP_FAILED) {
    return Mapping({static_cast<const std::byte*>(address), size}, stamp);
  }
  Error error =
      Error::make(ErrorCode::kAccessFailed, "cannot map %zu bytes: %s", size, std::strerror(errno));
  if (address != MAP_FAILED) ::munmap(address, reserved);
  return error;
}

Mapping::Mapping(Mapping&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), stamp_(other.stamp_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(stamp_, other.stamp_);
  return *this;
}

void Mapping::release(size_t offset, size_t size) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t first = round_up(offset, page);
  const size_t last = (offset + size) / page * page;
  if (first >= last) return;
  // These pages are unmodified, so the system can read them from the file again.
  ::madvise(const_cast<std::byte*>(bytes_.data()) + first, last - first, MADV_DONTNEED);
}

Mapping::~Mapping() {
  if (bytes_.empty()) return;
  ::munmap(const_cast<std::byte*>(bytes_.data()), mapped_bytes(bytes_.size()));
}

}  // namespace vitrine::platform
