// Builds the programs of fault_walk_test.cc. The batch size of each is at most 4.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

// Before the linear layer, a conversion computes the minimum and maximum of each row.
AlignedBytes dynamically_quantized_linear();

// A convolution and a transposed convolution. For each of them, XNNPACK has one padding buffer per
// image of the batch.
AlignedBytes dynamically_quantized_convolutions();

// Two delegates in sequence that both compute x * x + x. They share a workspace.
AlignedBytes two_delegates();

// Poolings and a transposed convolution of one image. The batch size of the call is the height of
// this image or its number of channels.
AlignedBytes windows();

// An LSTM layer of two steps with its state as inputs and outputs. The optimized kernels
// need temporary memory for the products with inputs, and more for the products with the state.
AlignedBytes lstm();

// cond(flag, x sorted along dim 0, x sorted along dim 1). The second branch needs more temporary
// memory than the first.
AlignedBytes two_branches();

// A program with two methods that compute state = 2 x, y = state + x. The batch is static.
AlignedBytes methods_that_share_state();

}  // namespace vitrine::test
