// Memory that ends at an unreadable page, so that an access beyond the end stops the process, even
// in code without sanitizers.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace vitrine::test {

class GuardedMemory {
 public:
  // `slack` bytes past the end are readable and writable too. 16-byte aligned.
  GuardedMemory(size_t bytes, size_t slack) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t used = (bytes + slack + 15) / 16 * 16;
    size_ = (used + page - 1) / page * page + page;
    base_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) std::abort();
    std::byte* guard = static_cast<std::byte*>(base_) + size_ - page;
    if (::mprotect(guard, page, PROT_NONE) != 0) std::abort();
    data_ = guard - used;
  }
  ~GuardedMemory() { ::munmap(base_, size_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() { return data_; }

 private:
  void* base_;
  size_t size_;
  std::byte* data_;
};

}  // namespace vitrine::test
