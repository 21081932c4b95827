// Independent chains of float32 multiply-adds in the widest vectors that the processor has: as fast
// as arithmetic gets. Built with its own flags.
#pragma once

#include <cstddef>

namespace vitrine::tools {

// FLOPs of one round, two for a multiply-add.
size_t multiply_add_flops();
void multiply_add(size_t rounds);

}  // namespace vitrine::tools
