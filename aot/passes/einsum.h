// The decomposition of einsum, which parses its equation.
#pragma once

#include "aot/passes/decomposition.h"

namespace vitrine::aot {

// Refuses diagonals ("ii->i").
void decompose_einsum(Decomposition& to);

}  // namespace vitrine::aot
