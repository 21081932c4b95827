// Builds the programs of fault_walk_test.cc. The batch size of each is at most 4.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

// A dynamically quantized linear layer. The conversion of its input computes the minimum and the
// maximum of each row.
AlignedBytes dynamically_quantized_linear();

// A convolution and a transposed convolution. For each of them, XNNPACK has one padding buffer per
// image of the batch.
AlignedBytes dynamically_quantized_convolutions();

// Two delegates in sequence that both compute x * x + x. They share a workspace.
AlignedBytes two_delegates();

// Poolings and a transposed convolution. The input is reshaped to one image, so its batch size
// becomes the height or the number of channels of this image.
AlignedBytes windows();

// An LSTM layer of two steps, with its state as inputs and outputs. The optimized kernel of
// aten::linear needs more temporary memory for a product with the state than for a product with the
// input.
AlignedBytes lstm();

// cond(flag, x sorted along dim 0, x sorted along dim 1). The second branch needs more temporary
// memory than the first.
AlignedBytes two_branches();

// A program with two methods that share the tensor `state`. Each method computes state = 2 * x and
// y = state + x. All shapes are static.
AlignedBytes methods_that_share_state();

}  // namespace vitrine::test
