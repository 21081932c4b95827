// Computes ahead of time what needs no input.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct FoldOptions {
  // Results that take more than this and more than what they are made of stay calls.
  size_t max_growth = size_t{1} << 20;  // in bytes, of each result
  // Calls that quantise or dequantise stay: backends know quantised weights by them.
  bool keeps_quantisation = false;
};

// Calls of the edge dialect all of whose inputs are weights that nothing mutates, or such calls,
// are replaced by constants "_prop_tensor_constant<n>"; weights that nothing uses any more go.
// Makers of tensors ("full") stay, unless other folded calls take them. Branches are left alone.
// How many calls there were. AotErrors name what failed.
size_t fold_constants(ExportedProgram& program, const FoldOptions& options = {});

}  // namespace vitrine::aot
