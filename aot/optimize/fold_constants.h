// Constant folding: computes ahead of time each call that depends only on weights.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct FoldOptions {
  // Maximum number of bytes by which a folded result may exceed the weights that it replaces.
  // Weights with other users do not count, because they stay in the program.
  size_t max_growth = size_t{1} << 20;
  // If set, keeps quantize and dequantize calls, by which backends recognize quantized weights.
  bool keep_quantization = false;
  // If set, keeps transpositions of matrices, by which backends recognize linear layers.
  bool keep_transpositions = false;
};

// Folds calls in the edge dialect whose inputs are all unmutated weights or other folded calls.
// Replaces the results with constants named "_prop_tensor_constant<n>". Removes unused weights.
// Keeps a call without tensor inputs ("full") unless a folded call uses it. Does not change
// subgraphs. Returns the number of folded calls. Throws AotError if a call cannot be computed.
size_t fold_constants(ExportedProgram& program, const FoldOptions& options = {});

}  // namespace vitrine::aot
