#include "test/backends/xnnpack/allocation_counter.h"

#include <cstdlib>
#include <new>

namespace vitrine::test {

size_t allocation_count = 0;

}  // namespace vitrine::test

void* operator new(size_t size) {
  ++vitrine::test::allocation_count;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
