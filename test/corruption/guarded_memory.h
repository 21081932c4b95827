// Allocates memory between two unreadable pages, as close to the second page as alignment allows.
// An access to one of the pages stops the process, even in code without sanitizers. The gaps
// between the pages and the memory contain a pattern. If a write changes the pattern, the process
// stops when the memory is freed. With AddressSanitizer, any access to a gap stops the process
// immediately.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

// Functions of the AddressSanitizer runtime; null if it is not linked.
extern "C" void __asan_poison_memory_region(const volatile void*, size_t) __attribute__((weak));
extern "C" void __asan_unpoison_memory_region(const volatile void*, size_t) __attribute__((weak));

namespace vitrine::test {

class GuardedMemory {
 public:
  // Allocates `bytes` bytes, 16-byte aligned. `slack` bytes past the end are also accessible.
  GuardedMemory(size_t bytes, size_t slack) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t used = (bytes + slack + 15) / 16 * 16;
    const size_t open = (used + page - 1) / page * page;
    size_ = page + open + page;
    base_ = ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) std::abort();
    std::byte* const begin = static_cast<std::byte*>(base_) + page;
    if (open != 0 && ::mprotect(begin, open, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = begin + open - used;
    before_ = {begin, data_};
    behind_ = {data_ + bytes + slack, begin + open};
    for (const std::span<std::byte> gap : {before_, behind_}) {
      std::memset(gap.data(), static_cast<int>(kPattern), gap.size());
      if (__asan_poison_memory_region != nullptr) {
        __asan_poison_memory_region(gap.data(), gap.size());
      }
    }
  }
  ~GuardedMemory() {
    for (const std::span<std::byte> gap : {before_, behind_}) {
      if (__asan_unpoison_memory_region != nullptr) {
        __asan_unpoison_memory_region(gap.data(), gap.size());
      }
      if (has_pattern(gap)) continue;
      std::fprintf(stderr, "a write %s guarded memory\n",
                   gap.data() == before_.data() ? "before" : "behind");
      std::abort();
    }
    ::munmap(base_, size_);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() { return data_; }

 private:
  static constexpr std::byte kPattern{0x5C};

  // True if every byte of the gap is kPattern.
  static bool has_pattern(std::span<const std::byte> gap) {
    return gap.empty() || (gap.front() == kPattern &&
                           std::memcmp(gap.data(), gap.data() + 1, gap.size() - 1) == 0);
  }

  void* base_;
  size_t size_;
  std::byte* data_;
  std::span<std::byte> before_;
  std::span<std::byte> behind_;
};

}  // namespace vitrine::test
