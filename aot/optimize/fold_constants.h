// Constant folding: computes calls that depend only on weights ahead of time.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct FoldOptions {
  // Keeps a call if its result is larger by more than this many bytes than the weights from which
  // it is computed. Weights that other calls also use count as 0 bytes, because they stay in the
  // program.
  size_t max_growth = size_t{1} << 20;
  // Keeps calls that quantize or dequantize, since backends recognize quantized weights by them.
  bool keep_quantization = false;
  // Keeps transpositions of matrices, since backends recognize linear layers by them.
  bool keep_transpositions = false;
};

// Replaces calls of the edge dialect by constants "_prop_tensor_constant<n>" if all their inputs
// are weights that the program does not mutate, or such calls. Removes weights that become unused.
// Keeps calls without tensor inputs ("full"), unless another folded call uses them. Does not change
// subgraphs. Returns the number of folded calls. Throws AotError if a call cannot be computed.
size_t fold_constants(ExportedProgram& program, const FoldOptions& options = {});

}  // namespace vitrine::aot
