// Makes one file operation of a tool fail. This library is preloaded into the tool.
//
//   LD_PRELOAD=libvitrine_io_faults.so VITRINE_IO_FOLDER=/tmp/x/ VITRINE_IO_FAULT="3 28"
//   VITRINE_IO_LOG=/tmp/log executor_runner ...
//
// The command above makes the third operation on files in the folder fail with errno 28. If the
// second number is 0, a read or write instead transfers half of its bytes. If it is -1, a read
// reports the end of the file.
// The library writes the chosen operation and its file to the log: "write /tmp/x/y". Calls inside
// the C library (stdio) are not intercepted.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kShort = 0;
constexpr int kEnd = -1;

std::atomic<int> calls{0};

struct FaultPlan {
  const char* folder = std::getenv("VITRINE_IO_FOLDER");
  const char* log = std::getenv("VITRINE_IO_LOG");
  int number = 0;
  int reason = 0;

  FaultPlan() {
    const char* fault = std::getenv("VITRINE_IO_FAULT");
    if (fault == nullptr || folder == nullptr || log == nullptr) return;
    char* rest = nullptr;
    number = static_cast<int>(std::strtol(fault, &rest, 10));
    reason = static_cast<int>(std::strtol(rest, nullptr, 10));
  }
};

const FaultPlan& plan() {
  static const FaultPlan kPlan;
  return kPlan;
}

// Counts the calls on files in the folder. If this call is the chosen one, writes it to the log and
// returns true.
bool is_chosen(const char* call, const char* path) {
  const FaultPlan& fault = plan();
  if (fault.number == 0 || std::strncmp(path, fault.folder, std::strlen(fault.folder)) != 0) {
    return false;
  }
  if (++calls != fault.number) return false;
  if (std::FILE* log = std::fopen(fault.log, "we")) {
    std::fprintf(log, "%s %s\n", call, path);
    std::fclose(log);
  }
  return true;
}

bool is_chosen(const char* call, int descriptor) {
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  char path[PATH_MAX];
  const ssize_t size = ::readlink(link, path, sizeof path - 1);
  if (size < 0) return false;
  path[size] = '\0';
  return is_chosen(call, path);
}

// Handles all calls except reads and writes.
template <class File>
bool fails(const char* call, File file) {
  if (!is_chosen(call, file) || plan().reason <= 0) return false;
  errno = plan().reason;
  return true;
}

// Handles reads and writes. May reduce `count`. Returns false if the call must return `result`
// instead.
bool transfers(const char* call, int descriptor, size_t& count, ssize_t& result) {
  if (!is_chosen(call, descriptor)) return true;
  if (plan().reason == kShort || (plan().reason == kEnd && std::strcmp(call, "write") == 0)) {
    count = (count + 1) / 2;
    return true;
  }
  result = plan().reason == kEnd ? 0 : -1;
  if (plan().reason > 0) errno = plan().reason;
  return false;
}

// Returns the original function that this library replaces.
template <class Function>
Function next(const char* name, Function) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  static const auto real = next("open", &open);
  if (fails((flags & O_CREAT) != 0 ? "create" : "open", path)) return -1;
  return real(path, flags, mode);
}

ssize_t read(int descriptor, void* to, size_t count) {
  static const auto real = next("read", &read);
  ssize_t result = 0;
  return transfers("read", descriptor, count, result) ? real(descriptor, to, count) : result;
}

ssize_t pread(int descriptor, void* to, size_t count, off_t offset) {
  static const auto real = next("pread", &pread);
  ssize_t result = 0;
  return transfers("read", descriptor, count, result) ? real(descriptor, to, count, offset)
                                                      : result;
}

ssize_t write(int descriptor, const void* from, size_t count) {
  static const auto real = next("write", &write);
  ssize_t result = 0;
  return transfers("write", descriptor, count, result) ? real(descriptor, from, count) : result;
}

// Closes the descriptor even if the call fails, as Linux does.
int close(int descriptor) {
  static const auto real = next("close", &close);
  const int flags = ::fcntl(descriptor, F_GETFL);
  const bool is_written = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
  const bool has_failed = fails(is_written ? "close" : "close what was read", descriptor);
  const int reason = errno;
  const int result = real(descriptor);
  if (!has_failed) return result;
  errno = reason;
  return -1;
}

int fsync(int descriptor) {
  static const auto real = next("fsync", &fsync);
  return fails("fsync", descriptor) ? -1 : real(descriptor);
}

int ftruncate(int descriptor, off_t size) noexcept {
  static const auto real = next("ftruncate", &ftruncate);
  return fails("ftruncate", descriptor) ? -1 : real(descriptor, size);
}

int futimens(int descriptor, const timespec times[2]) noexcept {
  static const auto real = next("futimens", &futimens);
  return fails("futimens", descriptor) ? -1 : real(descriptor, times);
}

int fstat(int descriptor, struct stat* status) noexcept {
  static const auto real = next("fstat", &fstat);
  return fails("fstat", descriptor) ? -1 : real(descriptor, status);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next("rename", &rename);
  return fails("rename", to) ? -1 : real(from, to);
}

void* mmap(void* address, size_t size, int access, int flags, int descriptor,
           off_t offset) noexcept {
  static const auto real = next("mmap", &mmap);
  if ((flags & MAP_ANONYMOUS) == 0 && fails("mmap", descriptor)) return MAP_FAILED;
  return real(address, size, access, flags, descriptor, offset);
}

}  // extern "C"
