// Counts every allocation of an executable of its own: operator new is replaced, and the linker
// wraps the C functions for all code that is linked statically, the runtime's included. Link with
// -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=posix_memalign.
#pragma once

namespace vitrine::test {

int allocation_count();

}  // namespace vitrine::test
