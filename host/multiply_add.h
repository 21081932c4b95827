// Independent chains of float32 multiply-adds in the processor's widest vectors: the fastest
// possible arithmetic. Built with separate flags.
#pragma once

#include <cstddef>

namespace vitrine::tools {

// FLOPs of one round, two for a multiply-add.
size_t multiply_add_flops();
void multiply_add(size_t rounds);

}  // namespace vitrine::tools
