// Reports the memory that this process uses and can still use, and allocates large blocks.
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

// Bytes that this process can still use: the memory that the system reports as available, or the
// memory that the process's control groups leave if that is less. UINT64_MAX if neither is known.
// Reading this number takes tens of microseconds, so the number is reused for a tenth of a second.
uint64_t available_memory();
// Does the same as available_memory(), but always takes a new reading. `root` is prepended to the
// paths of the system's files; tests set it.
uint64_t read_available_memory(const char* root = "");

// Allocates memory to be freed with free(). Returns null if no memory is left. `alignment` must be
// a power of two and a multiple of a pointer's size. A block that fill_huge_page() makes at least
// 2 MB large has that size and begins at a huge page, and the system is asked to use huge pages for
// it (prefer_huge_pages()).
void* allocate_aligned(size_t alignment, size_t size);

// Size of a huge page.
inline constexpr size_t kHugePage = size_t{2} << 20;
// Returns the size of a block of memory that should hold `size` bytes: a multiple of kHugePage if
// that adds at most a quarter of a huge page, otherwise `size`. To provide one huge page takes the
// system about as long as to provide 100 small ones.
size_t fill_huge_page(size_t size);
// Asks the system to use huge pages for `memory`. Excludes the parts at the start and the end that
// do not fill a huge page.
void prefer_huge_pages(std::span<std::byte> memory);

// Makes the system provide all pages of `memory` now, in one call, instead of each page at the
// first access to it. The content stays the same. Does nothing if the system cannot do it (Linux
// before 5.14).
void provide_pages(std::span<std::byte> memory);

}  // namespace vitrine::platform
