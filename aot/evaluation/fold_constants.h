// Computes calls that depend on no input ahead of time.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct FoldOptions {
  // A call stays if its result is larger than all that it is computed from by more than this. A
  // weight that other calls need too counts as nothing: it would be stored twice.
  size_t max_growth = size_t{1} << 20;  // in bytes, of each result
  // Keeps calls that quantise or dequantise, since backends recognise quantised weights by them.
  bool keeps_quantisation = false;
  // Keeps matrices' transpositions, since backends recognise linear layers by them.
  bool keeps_transpositions = false;
};

// Replaces calls of the edge dialect by constants "_prop_tensor_constant<n>" if all their inputs
// are weights that nothing mutates, or such calls. Removes weights that become unused. Calls
// without tensor inputs ("full") stay, unless another folded call uses them. Branches are left
// alone. Returns the number of calls. AotErrors name what failed.
size_t fold_constants(ExportedProgram& program, const FoldOptions& options = {});

}  // namespace vitrine::aot
