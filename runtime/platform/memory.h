// Reports this process's memory use and the memory that is still available to it, and allocates
// large blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vitrine::platform {

// Resident bytes, including mapped files; 0 if unknown.
struct ResidentMemory {
  uint64_t now = 0;
  uint64_t peak = 0;
};
ResidentMemory resident_memory();

// Bytes that this process can still use. This is the smaller of two numbers: the memory that the
// system reports as available, and the memory that the process's control groups still allow.
// UINT64_MAX if neither is known. The result is cached for a tenth of a second.
uint64_t available_memory();
// Does the same as available_memory(), but does not use a cached result. For tests, `root` is
// prepended to the paths of the system's files.
uint64_t read_available_memory(const char* root = "");

// Allocates memory to be freed with free(). Returns null if no memory is left. `alignment` must be
// a power of two and a multiple of a pointer's size. The size is rounded with fill_huge_page(). If
// the rounded size is at least kHugePage, the block is aligned to kHugePage, and
// prefer_huge_pages() is called for it.
void* allocate_aligned(size_t alignment, size_t size);

// Size of a huge page.
inline constexpr size_t kHugePage = size_t{2} << 20;
// Rounds `size` up to a multiple of kHugePage if that adds at most a quarter of a huge page.
// Otherwise, returns `size`. The rounding saves time: the system provides one huge page about as
// fast as 100 small pages.
size_t fill_huge_page(size_t size);
// Asks the system to use huge pages for `memory`. Excludes the parts at the start and the end that
// do not fill a huge page.
void prefer_huge_pages(std::span<std::byte> memory);

// Makes the system provide all pages of `memory` now instead of at the first access to each page.
// The content stays the same. Does nothing if the system cannot do it (Linux before 5.14).
void provide_pages(std::span<std::byte> memory);

}  // namespace vitrine::platform
