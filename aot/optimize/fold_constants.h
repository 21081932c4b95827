// Constant folding: computes ahead of time each call that depends only on weights.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct FoldOptions {
  // Max number of bytes by which a folded result may exceed the weights from which it is computed.
  // Weights that other calls use too are not counted, because they stay in the program.
  size_t max_growth = size_t{1} << 20;
  // If set, does not fold quantize and dequantize calls. Backends recognize quantized weights by
  // these calls.
  bool keep_quantization = false;
  // If set, does not fold transpositions of matrices. Backends recognize linear layers by these
  // transpositions.
  bool keep_transpositions = false;
};

// Folds the calls in the edge dialect whose inputs are all unmutated weights or other folded calls.
// Replaces their results with constants named "_prop_tensor_constant<n>". Removes weights that
// become unused. Keeps a call without tensor inputs ("full") unless a folded call uses it. Does not
// change subgraphs. Returns the number of folded calls. Throws AotError if a call cannot be
// computed.
size_t fold_constants(ExportedProgram& program, const FoldOptions& options = {});

}  // namespace vitrine::aot
