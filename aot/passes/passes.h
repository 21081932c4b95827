// The passes that turn a program of torch.export into one that the runtime executes. Each pass is
// in its own file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"
#include "aot/graph/ops_to_keep.h"

namespace vitrine::aot {

// Makes each node of the exported graph its own source, unless the file names a source.
void remember_sources(ExportedProgram& program);

// Inlines the subgraphs that torch.no_grad() creates in a model's forward. Does the same for
// torch.autocast() if it is disabled, and otherwise throws AotError.
void inline_wrapped(ExportedProgram& program);
// Removes the wrappers of torch.vmap, between which the graph has the shapes of one sample, and
// adds the batch dim to the calls. Throws an AotError that names an operator that does not support
// this.
void inline_vmap(ExportedProgram& program);
// Replaces in-place views ("t_") with views, and Python's in-place operators ("x |= y") with those
// of ATen ("bitwise_or_").
void unify_writes(ExportedProgram& program);
// "aten.relu_.default" -> "aten.relu.default"
std::string without_underscore(std::string_view name);

// Replaces calls that write to an argument ("relu_") with calls that do not, and adds mutations to
// the signature.
void functionalize(ExportedProgram& program);
// Like decompose(), for programs with calls that write to an argument, before functionalize(),
// which can track aliases only through plain views. Unknown operators stay.
void decompose_around_writes(ExportedProgram& program, std::span<const std::string> preserved = {},
                             std::span<const OpsToKeep> ops_to_keep = {});
// Decomposes operators that are not core ATen into core ATen. Throws an AotError that names an
// operator without a decomposition and its line in the user's model.
//
// Keeps calls of the operators in `preserved` (ATen names), and calls that a partitioner keeps if
// may_keep() allows it. Partitioners decide after everything else is decomposed.
void decompose(ExportedProgram& program, std::span<const std::string> preserved = {},
               std::span<const OpsToKeep> ops_to_keep = {});
// Decomposes the operators marked LATE in an edge program, after partitioning: quantization that no
// backend delegated.
void decompose_late(ExportedProgram& program);
// True if a partitioner may keep the operator. False for operators whose results share memory with
// inputs, operators that write to inputs, and some that ExecuTorch excludes.
bool may_keep(std::string_view target);

// Infers dtypes, sizes and strides of results again, for operators that aot/shapes supports.
void propagate_specs(ExportedProgram& program);

void remove_dead_code(ExportedProgram& program);
// Removes parameters without users. Unused buffers stay.
void remove_unused_parameters(ExportedProgram& program);
// Removes run-time checks of sizes and values, which the edge dialect does not have.
void remove_asserts(ExportedProgram& program);
// Replaces views with copies: "aten.permute" -> "aten.permute_copy".
void views_to_copies(ExportedProgram& program);
// True for operators that views_to_copies() replaces.
bool is_view(Target target);
// Replaces literal numbers that are passed for tensors with constants "_lifted_tensor_constant<n>",
// and numbers that nodes compute with aten.scalar_tensor.
void scalars_to_tensors(ExportedProgram& program);
// Removes conversions and slices that change nothing, and empty tensors in concatenations.
void remove_no_ops(ExportedProgram& program);
// Converts operands of different dtypes to the dtype in which the operator computes.
void convert_mixed_dtypes(ExportedProgram& program);
// Replaces memory formats with dim orders: aten.clone -> dim_order_ops._clone_dim_order.
void memory_formats_to_dim_orders(ExportedProgram& program);
// Replaces the targets of calls with edge targets.
void to_edge_targets(ExportedProgram& program);
// Does the same as to_edge_targets(), and renames calls like FX and subgraphs to submodule_<n>.
void to_edge_dialect(ExportedProgram& program);
// Numbers the source nodes from 1 in order of appearance (docs/formats/pt2.md).
void generate_debug_handles(ExportedProgram& program);
// Returns the name and graph id of the source of a node, which has the node's debug handle. Empty
// before remember_sources().
std::string source_of(const Node& node);

// Replaces auto_functionalized_v2 with the operator, which writes to its arguments, or to copies of
// arguments whose old values are read later.
void write_in_place(ExportedProgram& program);
// Copies loop-carried values that a loop body returns at another position.
void copy_carried(ExportedProgram& program);
// Copies inputs that a branch returns, and results of branches that are read after the next branch
// or loop runs.
void copy_branch_results(ExportedProgram& program);
// Writes mutated buffers with aten.copy_ at the end of the graph.
void write_back_buffers(ExportedProgram& program);
// Replaces index_put with index_put_ if no later node reads the old value. Inputs that the program
// does not mutate are not written.
void reinplace(ExportedProgram& program);
// Replaces view_copy with memory.view, which shares the memory of its input, unless the result is
// an output.
void elide_views(ExportedProgram& program);

}  // namespace vitrine::aot
