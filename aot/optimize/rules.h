// The rules of --optimize, one per file. Each rule changes a program of the edge dialect into one
// that computes the same, and lists its changes.
#pragma once

#include "aot/optimize/changes.h"

namespace vitrine::aot {

// Replaces copies that keep the order of elements, such as squeezes and permutations of dims of
// size 1, by aten.view_copy, which runs no code, or removes them.
void copies_to_views(ExportedProgram& program, Changes& changes);
// Replaces a permutation of a permutation by a single one.
void compose_permutations(ExportedProgram& program, Changes& changes);
// Removes x * 1, x + 0, x / 1, and conversions to a wider dtype and back.
void remove_neutral_calls(ExportedProgram& program, Changes& changes);
// Removes expansions of operands of calls that broadcast their operands.
void remove_expansions(ExportedProgram& program, Changes& changes);
// Removes calls that repeat an earlier call. If `keep_constants` is set, keeps calls that read only
// weights, because backends recognize layers by them.
void share_results(ExportedProgram& program, Changes& changes, bool keep_constants);
// Removes the part of a safe softmax that returns zeros for fully masked rows, if every row has an
// unmasked value.
void remove_safe_softmax(ExportedProgram& program, Changes& changes);
// If both operands of a product are multiplied by numbers, multiplies only one, by the product of
// the numbers.
void merge_scales(ExportedProgram& program, Changes& changes);
// Rewrites calls into forms that backends support: x * 2 as x * tensor(2), select as a view of a
// slice, split as slices. The partitions before and after the call can then become one.
void rewrite_for_backends(ExportedProgram& program, Changes& changes);
// Replaces slices, selections and parts of a split by views if their elements are adjacent in the
// result of a call. Needs a program that `to_executable` has processed.
void slices_to_views(ExportedProgram& program, Changes& changes);
// Moves zero padding, if it is equal on both sides and only convolutions read it, into the padding
// of the convolutions.
void fold_pads(ExportedProgram& program, Changes& changes);
// Folds batch norms into the weights of the convolution before it, if the convolution has no other
// user.
void fold_batch_norms(ExportedProgram& program, Changes& changes);

}  // namespace vitrine::aot
