#include "runtime/platform/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace vitrine::platform {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

uint64_t resident_now() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long all = 0;
  unsigned long long resident = 0;
  const int count = std::fscanf(file, "%llu %llu", &all, &resident);
  std::fclose(file);
  return count == 2 ? resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

uint64_t memory_limit(const char* path) {
  char text[32] = {};
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  [[maybe_unused]] const ssize_t size = ::pread(descriptor, text, sizeof text - 1, 0);
  ::close(descriptor);
  uint64_t bytes = 0;
  unsigned digit = 0;
  for (const char* at = text; (digit = static_cast<unsigned>(*at - '0')) < 10; ++at) {
    bytes = bytes * 10 + digit;
  }
  return bytes != 0 ? bytes : UINT64_MAX;
}

uint64_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  const uint64_t all =
      pages > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : UINT64_MAX;
  return std::min(all, memory_limit("/sys/fs/cgroup/memory.max"));
}

void* allocate_aligned(size_t alignment, size_t size) {
  void* memory = nullptr;
  if (size < kHugePage) return ::posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
  if (::posix_memalign(&memory, std::max(alignment, kHugePage), size) != 0) return nullptr;
#ifdef MADV_HUGEPAGE
  (void)::madvise(memory, size / kHugePage * kHugePage, MADV_HUGEPAGE);  // a hint
#endif
  return memory;
}

ResidentMemory resident_memory() {
  rusage usage{};
  ResidentMemory memory;
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    memory.peak = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
  memory.now = resident_now();
  // The system counts the peak less exactly than the present.
  memory.peak = std::max(memory.peak, memory.now);
  return memory;
}

}  // namespace vitrine::platform
