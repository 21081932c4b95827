// The rules of --optimize, each in a file of its own. Programs are in the edge dialect; each rule
// leaves one that computes the same, and lists its changes.
#pragma once

#include "aot/optimise/changes.h"

namespace vitrine::aot {

// Squeezes, permutations of dims of size 1 and whatever else keeps the order of elements becomes
// aten.view_copy, which needs no memory of its own, or nothing at all.
void copies_to_views(ExportedProgram& program, Changes& changes);
// A permutation of a permutation becomes one.
void compose_permutations(ExportedProgram& program, Changes& changes);
// x * 1, x + 0, x / 1, and conversions to a wider dtype and back.
void remove_neutral_calls(ExportedProgram& program, Changes& changes);
// An operand is expanded for a call that broadcasts its operands.
void remove_expansions(ExportedProgram& program, Changes& changes);
// Calls that compute what an earlier one did. Those that read weights alone stay if
// `keeps_constants`: backends recognise layers by them.
void share_results(ExportedProgram& program, Changes& changes, bool keeps_constants);
// The part of a softmax that gives zeros for a row without a finite value, where every row has one.
void remove_safe_softmax(ExportedProgram& program, Changes& changes);
// Both sides of a product multiplied by numbers: one side by their product.
void merge_scales(ExportedProgram& program, Changes& changes);
// Calls that backends take only in another form: x * 2 as x * tensor(2), select as a view of
// a slice, split as slices. Partitions on both sides become one.
void use_forms_of_backends(ExportedProgram& program, Changes& changes);
// Slices, selections and parts of a split whose elements are adjacent in the result of a call: they
// become views of it. The program is as `to_executable` leaves it.
void slices_to_views(ExportedProgram& program, Changes& changes);
// Zeros around what convolutions alone read, as many on either side, become their padding.
void fold_pads(ExportedProgram& program, Changes& changes);
// Batch norms whose convolution has no other user go into its weights.
void fold_batch_norms(ExportedProgram& program, Changes& changes);

}  // namespace vitrine::aot
