// How much memory this process has, and large blocks of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitrine::platform {

// Resident bytes, including mapped files; 0 if unknown.
struct ResidentMemory {
  uint64_t now = 0;
  uint64_t peak = 0;
};
ResidentMemory resident_memory();

// What the machine has, or what the container of this process may use; UINT64_MAX if the system
// does not tell.
uint64_t machine_memory();

// The number in a file of a control group, such as memory.max; UINT64_MAX if there is none ("max").
uint64_t memory_limit(const char* path);

// For free(); null if there is none. A block of some megabytes begins at a huge page, and the
// system is asked for huge pages in it, as far as they are filled: nothing is spent on a part of
// one. `alignment` is a power of two and a multiple of a pointer's size.
void* allocate_aligned(size_t alignment, size_t size);

}  // namespace vitrine::platform
