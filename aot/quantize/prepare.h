// Prepares an exported program for annotations, like prepare_pt2e.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Multiplies the weights of convolutions and linear layers by the batch norms after them. The new
// weights equal PyTorch's bit for bit. Unlike PyTorch, it keeps a batch norm if something else uses
// the result of the layer, and it makes new weights if layers share a weight but not the batch
// norm.
void fold_batch_norms_into_layers(ExportedProgram& program);

// Replaces the numbers that aten.add.Tensor and aten.mul.Tensor add to or multiply with float
// tensors by stored tensors "_tensor_constant_<n>".
void store_scalars(ExportedProgram& program);

// Removes stored tensors that no call uses and that the program does not change.
void remove_unused_weights(ExportedProgram& program);

}  // namespace vitrine::aot
