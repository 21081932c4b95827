// Programs for the fault walk, each with a batch of 4 at most.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

// Its conversion takes the largest and smallest value of each row.
AlignedBytes dynamically_quantised_linear();

// Two delegates after each other: x * x + x, twice. Each needs the workspace that they share.
AlignedBytes two_delegates();

// Poolings and a transposed convolution of images: the batch is their height, or how many channels
// they have.
AlignedBytes windows();

// A layer of two steps, with its state as inputs and outputs. The products with the inputs and
// those with the state take temporary memory of optimised kernels, the latter more.
AlignedBytes lstm();

// cond(flag, x sorted along dim 0, x sorted along dim 1): the second takes more temporary memory
// than the first.
AlignedBytes two_branches();

// Of two methods: state = 2 x, y = state + x. Its batch is static.
AlignedBytes methods_that_share_state();

}  // namespace vitrine::test
