#include "test/support/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int> allocations{0};  // NOLINT
std::atomic<int> objects{0};      // NOLINT
std::atomic<int> failing{0};      // NOLINT: index of the allocation that fails; 0: none
std::atomic<bool> failed{false};  // NOLINT

bool should_fail() {
  if (++allocations != failing) return false;
  failed = true;
  return true;
}

}  // namespace

namespace vitrine::test {

int allocation_count() { return allocations; }
int object_count() { return objects; }

void fail_allocation(int n) {
  failed = false;
  failing = n == 0 ? 0 : allocations + n;
}

bool allocation_has_failed() { return failed; }

}  // namespace vitrine::test

// The linker option --wrap replaces calls to malloc with calls to __wrap_malloc. __real_malloc is
// the original function.
extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void** memory, size_t alignment, size_t bytes);
void* __wrap_malloc(size_t bytes) {
  if (should_fail()) return nullptr;
  return __real_malloc(bytes);
}
void* __wrap_calloc(size_t count, size_t bytes) {
  if (should_fail()) return nullptr;
  return __real_calloc(count, bytes);
}
void* __wrap_realloc(void* memory, size_t bytes) {
  if (should_fail()) return nullptr;
  return __real_realloc(memory, bytes);
}
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  if (should_fail()) return nullptr;
  return __real_aligned_alloc(alignment, bytes);
}
int __wrap_posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (should_fail()) return ENOMEM;
  return __real_posix_memalign(memory, alignment, bytes);
}
}

namespace {

void* counted(size_t bytes, size_t alignment) {
  if (should_fail()) return nullptr;
  ++objects;
  return __real_aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

void release(void* memory) {
  if (memory != nullptr) --objects;
  std::free(memory);
}

// Throws std::bad_alloc if the allocation fails. If the caller is device code, which is built
// without exceptions, the process terminates.
void* counted_or_throw(size_t bytes, size_t alignment) {
  void* memory = counted(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return counted_or_throw(bytes, 16); }
void* operator new[](size_t bytes) { return counted_or_throw(bytes, 16); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes, 16); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes, 16); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }
