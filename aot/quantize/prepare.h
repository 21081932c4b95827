// Prepares an exported program for annotations, like PyTorch's prepare_pt2e.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Folds batch norms into the weights of the convolutions and linear layers before them. The new
// weights equal PyTorch's bit for bit. Unlike PyTorch, keeps a batch norm if another node uses the
// result of the layer. Makes new weights if layers share a weight but not the batch norm.
void fold_batch_norms_into_layers(ExportedProgram& program);

// If aten.add.Tensor or aten.mul.Tensor has a float tensor and a number as operands, replaces the
// number with a stored tensor "_tensor_constant_<n>".
void store_scalars(ExportedProgram& program);

// Removes stored tensors that no call uses and that the program does not change.
void remove_unused_weights(ExportedProgram& program);

}  // namespace vitrine::aot
