#include "runtime/platform/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "runtime/platform/clock.h"
#include "runtime/platform/control_group.h"
#include "runtime/platform/system_file.h"

namespace vitrine::platform {
namespace {

uint64_t resident_now() {
  char text[256];
  read_start("/proc/self/statm", text, sizeof text);
  unsigned long long all = 0;
  unsigned long long resident = 0;
  const int count = std::sscanf(text, "%llu %llu", &all, &resident);
  return count == 2 ? resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

[[maybe_unused]] size_t to_boundary(std::span<std::byte> memory, size_t page) {
  return (page - reinterpret_cast<uintptr_t>(memory.data()) % page) % page;
}

}  // namespace

uint64_t available_memory() {
  constexpr uint64_t kValidNs = 100'000'000;
  // If several threads find an outdated value at the same time, each thread asks the system for a
  // new value.
  static std::atomic<uint64_t> known{0};
  static std::atomic<uint64_t> read_ns{0};
  const uint64_t now = quick_now_ns();
  if (now - read_ns.load(std::memory_order_relaxed) >= kValidNs) {
    known.store(read_available_memory(), std::memory_order_relaxed);
    read_ns.store(now, std::memory_order_relaxed);
  }
  return known.load(std::memory_order_relaxed);
}

uint64_t read_available_memory(const char* root) {
  char path[256];
  std::snprintf(path, sizeof path, "%s/proc/meminfo", root);
  char text[256];  // long enough for the third line
  read_start(path, text, sizeof text);
  const char* const kilobytes = find_line(text, "MemAvailable:");
  const uint64_t all = kilobytes != nullptr ? std::strtoull(kilobytes, nullptr, 10) : 0;
  return std::min(all != 0 ? all * 1024 : UINT64_MAX, control_group_memory(root));
}

void* allocate_aligned(size_t alignment, size_t size) {
  void* memory = nullptr;
  size = fill_huge_page(size);
  if (size < kHugePage) return ::posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
  if (::posix_memalign(&memory, std::max(alignment, kHugePage), size) != 0) return nullptr;
  prefer_huge_pages({static_cast<std::byte*>(memory), size});
  return memory;
}

size_t fill_huge_page(size_t size) {
  const size_t missing = (kHugePage - size % kHugePage) % kHugePage;
  return missing <= kHugePage / 4 && size <= SIZE_MAX - missing ? size + missing : size;
}

void prefer_huge_pages([[maybe_unused]] std::span<std::byte> memory) {
#ifdef MADV_HUGEPAGE
  const size_t skipped = to_boundary(memory, kHugePage);
  if (memory.size() < skipped + kHugePage) return;
  const size_t size = (memory.size() - skipped) / kHugePage * kHugePage;
  (void)::madvise(memory.data() + skipped, size, MADV_HUGEPAGE);
#endif
}

void provide_pages([[maybe_unused]] std::span<std::byte> memory) {
#ifdef MADV_POPULATE_WRITE
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t skipped = to_boundary(memory, page);
  if (memory.size() < skipped + page) return;
  const size_t size = (memory.size() - skipped) / page * page;
  (void)::madvise(memory.data() + skipped, size, MADV_POPULATE_WRITE);
#endif
}

ResidentMemory resident_memory() {
  rusage usage{};
  ResidentMemory memory;
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    memory.peak = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
  memory.now = resident_now();
  // The system updates the peak late, so a reported peak may be below the current size.
  memory.peak = std::max(memory.peak, memory.now);
  return memory;
}

}  // namespace vitrine::platform
