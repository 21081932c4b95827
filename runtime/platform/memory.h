// Memory that this process uses and may still use, and allocation of large blocks.
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

// Bytes that this process can still use, limited by the system and by control groups. UINT64_MAX if
// unknown. The result is cached for a tenth of a second.
uint64_t available_memory();
// Like available_memory(), but without the cache. Tests prepend `root` to the paths of the system's
// files.
uint64_t read_available_memory(const char* root = "");

// Allocates memory to be freed with free(). Returns null if no memory is left. `alignment` must be
// a power of two and a multiple of a pointer's size. The size is rounded with fill_huge_page(). A
// block of at least kHugePage bytes is aligned to kHugePage, and prefer_huge_pages() is called for
// this block.
void* allocate_aligned(size_t alignment, size_t size);

inline constexpr size_t kHugePage = size_t{2} << 20;
// Rounds `size` up to a multiple of kHugePage if that adds at most a quarter of a huge page.
// Otherwise, returns `size`. The system provides a huge page about as fast as 100 small pages.
size_t fill_huge_page(size_t size);
// Asks the system to use huge pages for `memory`, except for incomplete huge pages at the start and
// the end.
void prefer_huge_pages(std::span<std::byte> memory);

// Makes the system provide all pages of `memory` now instead of at their first access. The content
// stays the same. Does nothing before Linux 5.14.
void provide_pages(std::span<std::byte> memory);

}  // namespace vitrine::platform
