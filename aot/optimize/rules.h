// The rules of --optimize, one per file. Each rule changes a program of the edge dialect, but not
// the results of the program, except for rounding. The rule records its changes in `changes`.
#pragma once

#include "aot/optimize/changes.h"

namespace vitrine::aot {

// Removes copies that keep the order of elements, such as squeezes and permutations of dims of size
// 1. If the sizes differ, replaces the copy with aten.view_copy, which does not run code.
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
// If every row of a safe softmax has an unmasked element, removes the calls that return zeros for
// fully masked rows.
void remove_safe_softmax(ExportedProgram& program, Changes& changes);
// If each operand of a matrix product is multiplied by a number, multiplies only one operand, by
// the product of the two numbers.
void merge_scales(ExportedProgram& program, Changes& changes);
// Rewrites calls into forms that backends support: x * 2 as x * tensor(2), select as a view of a
// slice, and split as slices. The partitions before and after such a call can then become one
// partition.
void rewrite_for_backends(ExportedProgram& program, Changes& changes);
// Replaces slices, selections and parts of a split with views of a call's result, if the selected
// elements are adjacent in memory. Needs a program that `to_executable` has processed.
void slices_to_views(ExportedProgram& program, Changes& changes);
// Moves zero padding into the convolutions that read the padded tensor, if the padding is equal on
// both sides and the tensor has no other users.
void fold_pads(ExportedProgram& program, Changes& changes);
// Folds each batch norm into the weights of the convolution before it, if the convolution has no
// other user.
void fold_batch_norms(ExportedProgram& program, Changes& changes);

}  // namespace vitrine::aot
