// Prepares an exported program for annotations, like PyTorch's prepare_pt2e.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Folds batch norms into the convolutions and linear layers before them. The new weights equal
// PyTorch's bit for bit. Unlike PyTorch, keeps a batch norm if its layer has other users. Makes new
// weights for layers that share a weight but not the batch norm.
void fold_batch_norms_into_layers(ExportedProgram& program);

// Replaces numbers in aten.add.Tensor and aten.mul.Tensor with stored tensors, named
// "_tensor_constant_<n>", if the other operand is a float tensor.
void store_scalars(ExportedProgram& program);

// Removes stored tensors that no call uses and that the program does not change.
void remove_unused_weights(ExportedProgram& program);

}  // namespace vitrine::aot
