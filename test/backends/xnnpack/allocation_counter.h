// Counts what a test takes from the heap through operator new.
#pragma once

#include <cstddef>

namespace vitrine::test {

extern size_t allocation_count;

}  // namespace vitrine::test
