// Counts every allocation of an executable, and can make one allocation fail. The library replaces
// operator new. It also replaces malloc and the other C functions in all statically linked code,
// including the runtime. For these functions, link with
// -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=posix_memalign.
#pragma once

namespace vitrine::test {

int allocation_count();
// Returns the number of objects from operator new that are not deleted yet.
int object_count();

// Makes the n-th allocation after this call fail. If n is 1, the next allocation fails. If n is 0,
// none fails.
void fail_allocation(int n);
// Returns true if the allocation that fail_allocation() chose has failed.
bool allocation_has_failed();

}  // namespace vitrine::test
