// Counts every allocation of an executable of its own, and lets one fail: operator new is replaced,
// and the linker wraps the C functions for all code that is linked statically, the runtime's
// included. Link with
// -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=posix_memalign.
#pragma once

namespace vitrine::test {

int allocation_count();
// Of operator new's, those that were not deleted.
int object_count();

// Lets one allocation fail: the n-th from now on, 1 being the next; 0: none.
void fail_allocation(int n);
// Whether it did.
bool allocation_has_failed();

}  // namespace vitrine::test
