// The passes from a program of torch.export to one that a runtime executes, one file each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"
#include "aot/graph/ops_to_keep.h"

namespace vitrine::aot {

// Notes for each node of the exported graph that it is its own source, where the file names none.
void remember_sources(ExportedProgram& program);

// torch.no_grad() in a model's forward is a call of a graph: its calls come in its place. Autocast
// is one too, and an AotError unless it is switched off.
void inline_wrapped(ExportedProgram& program);
// torch.vmap in a model's forward leaves marks and the shapes of one sample: the calls get the
// batch dim. AotErrors name an operator whose batch is not supported.
void inline_vmap(ExportedProgram& program);
// Views in place ("t_") -> views, which are read from there on; "x |= y" -> aten.bitwise_or_.
void unify_writes(ExportedProgram& program);
// "aten.relu_.default" -> "aten.relu.default"
std::string without_underscore(std::string_view name);

// Calls that write to an argument ("relu_") -> calls that do not, and mutations in the signature.
void functionalise(ExportedProgram& program);
// Like `decompose`, for programs with calls that write to an argument, before these are
// functionalised. Aliasing can be tracked only through plain views. Unknown operators stay.
void decompose_around_writes(ExportedProgram& program, std::span<const std::string> preserved = {},
                             std::span<const OpsToKeep> ops_to_keep = {});
// Decomposes operators that are not core ATen into core ATen. AotErrors name an operator without a
// decomposition, and its line in the user's model.
//
// Keeps the operators in `preserved`, by ATen name, and calls that a partitioner keeps, if their
// operator is in `may_keep`. The partitioner decides after everything else is decomposed.
void decompose(ExportedProgram& program, std::span<const std::string> preserved = {},
               std::span<const OpsToKeep> ops_to_keep = {});
// Decomposes what is left for last in an edge program: quantisation that no backend took.
void decompose_late(ExportedProgram& program);
// Not of operators whose results share memory with their inputs or that write to them, and a few
// that ExecuTorch excepts.
bool may_keep(std::string_view target);

// Infers results' dtypes, sizes and strides again, for operators that aot/shapes supports.
void propagate_specs(ExportedProgram& program);

void remove_dead_code(ExportedProgram& program);
// Parameters that nothing uses; buffers stay.
void remove_unused_parameters(ExportedProgram& program);
// Removes run-time checks of sizes and values, which the edge dialect lacks.
void remove_asserts(ExportedProgram& program);
// Views -> copies: "aten.permute" -> "aten.permute_copy".
void views_to_copies(ExportedProgram& program);
bool is_view(Target target);  // of those
// Numbers in the place of tensors -> constants "_lifted_tensor_constant<n>", results that are
// numbers -> aten.scalar_tensor.
void scalars_to_tensors(ExportedProgram& program);
// Copies and slices that change nothing, empty tensors in concatenations.
void remove_no_ops(ExportedProgram& program);
// Operands of mixed dtypes are converted to the type that the operator computes in.
void convert_mixed_dtypes(ExportedProgram& program);
// Memory formats -> dim orders: aten.clone -> dim_order_ops._clone_dim_order.
void memory_formats_to_dim_orders(ExportedProgram& program);
// Calls get edge targets.
void to_edge_targets(ExportedProgram& program);
// The same, FX's names for them, and for subgraphs the names submodule_<n>.
void to_edge_dialect(ExportedProgram& program);
// A number for each source node, from 1 in order of appearance (docs/formats/pt2.md).
void generate_debug_handles(ExportedProgram& program);

// auto_functionalized_v2 -> the operator, which writes to its arguments: where nothing reads what
// these were, else to copies of them.
void write_in_place(ExportedProgram& program);
// What a loop carries from one place to another is copied in its body.
void copy_carried(ExportedProgram& program);
// Branches return memory of their own, which is copied if it is read after the next branch or loop.
void copy_branch_results(ExportedProgram& program);
// Mutated buffers are written by aten.copy_ at the end of the graph.
void write_back_buffers(ExportedProgram& program);
// index_put into something that nothing reads later -> index_put_, unless that is an input that the
// program does not mutate.
void reinplace(ExportedProgram& program);
// view_copy whose result no output needs -> memory.view, which shares its input's memory.
void elide_views(ExportedProgram& program);

}  // namespace vitrine::aot
