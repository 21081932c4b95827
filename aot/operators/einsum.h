#pragma once

#include "aot/operators/decomposition.h"

namespace vitrine::aot {

// Replaces a call to einsum with permutations, batched matrix products and sums.
void decompose_einsum(Decomposition& to);

}  // namespace vitrine::aot
