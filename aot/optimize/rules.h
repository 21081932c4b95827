// The rules of --optimize, one per file. Each rule changes an edge program, but not its results,
// except for rounding. `changes` records the changes.
#pragma once

#include "aot/optimize/changes.h"

namespace vitrine::aot {

// Removes copies that keep the order of elements, such as squeezes. If the sizes differ, the copy
// becomes aten.view_copy, which does not run code.
void copies_to_views(ExportedProgram& program, Changes& changes);
// Replaces two permutations in a row with a single permutation.
void compose_permutations(ExportedProgram& program, Changes& changes);
// Removes x * 1, x / 1, x - 0, x + 0, and conversions to a wider dtype and back. For floats, keeps
// x + 0.0, because it changes -0.0 to 0.0, but removes x + -0.0.
void remove_neutral_calls(ExportedProgram& program, Changes& changes);
// Removes expansions of tensors whose users broadcast their operands anyway.
void remove_expansions(ExportedProgram& program, Changes& changes);
// Removes calls that repeat an earlier call. If `keep_constants` is set, keeps calls that read only
// weights, because backends recognize layers by these calls.
void share_results(ExportedProgram& program, Changes& changes, bool keep_constants);
// If no row of a safe softmax can be fully masked, removes the calls that handle such rows.
void remove_safe_softmax(ExportedProgram& program, Changes& changes);
// If both operands of a matrix product are multiplied by numbers, multiplies only one operand, by
// the product of the numbers.
void merge_scales(ExportedProgram& program, Changes& changes);
// Rewrites calls for backends: x * 2 as x * tensor(2), select as a view of a slice, and split as
// slices. The partitions around such a call can then become one partition.
void rewrite_for_backends(ExportedProgram& program, Changes& changes);
// Replaces slices, selections and parts of a split with views if the elements are adjacent in
// memory. Needs a program that `to_executable` has processed.
void slices_to_views(ExportedProgram& program, Changes& changes);
// Moves zero padding into convolutions if both sides are equal and no other call uses the padded
// tensor.
void fold_pads(ExportedProgram& program, Changes& changes);
// Folds a batch norm into the weights of the preceding convolution if no other call uses the
// convolution.
void fold_batch_norms(ExportedProgram& program, Changes& changes);

}  // namespace vitrine::aot
