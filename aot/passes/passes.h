// The passes that turn a program of torch.export into one that the runtime executes. Each pass is
// in its own file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"
#include "aot/graph/ops_to_keep.h"

namespace vitrine::aot {

// Records the source node of each call and get_attr node: the origin that the file states, or the
// node itself if the file states none. A getitem has the source node of its call.
void remember_sources(ExportedProgram& program);

// Inlines the subgraphs of torch.no_grad() blocks and of disabled torch.autocast() blocks. Throws
// AotError for an enabled torch.autocast().
void inline_wrapped(ExportedProgram& program);
// Removes the calls that start and end torch.vmap, and adds the batch dim to the calls in between.
// Throws an AotError that names the operator if it does not support a batch dim.
void inline_vmap(ExportedProgram& program);
// Replaces in-place views ("t_") with views, and Python's in-place operators ("x |= y") with those
// of ATen ("bitwise_or_").
void unify_writes(ExportedProgram& program);
// Removes the underscore from an in-place operator's name: "aten.relu_.default" ->
// "aten.relu.default".
std::string without_underscore(std::string_view name);

// Replaces calls that write to an argument ("relu_") with calls that do not, and adds the mutations
// of inputs to the signature.
void functionalize(ExportedProgram& program);
// Decomposes operators, but only if the program has calls that write to an argument. Runs before
// functionalize(), which can track aliases through views but not through other operators. Unlike
// decompose(), keeps operators without a decomposition.
void decompose_around_writes(ExportedProgram& program, std::span<const std::string> preserved = {},
                             std::span<const OpsToKeep> ops_to_keep = {});
// Decomposes operators that are not core ATen into core ATen. Throws an AotError that names an
// operator without a decomposition and its line in the user's model.
//
// Does not decompose calls to the operators in `preserved` (ATen names). Partitioners can keep
// further calls if may_keep() is true for the called operators. They choose these calls after all
// other calls are decomposed.
void decompose(ExportedProgram& program, std::span<const std::string> preserved = {},
               std::span<const OpsToKeep> ops_to_keep = {});
// In an edge program, decomposes the calls to operators that the operator table marks LATE. These
// are quantization calls that no backend delegated. Runs after partitioning.
void decompose_late(ExportedProgram& program);
// True if a partitioner may prevent the decomposition of the operator. False for operators that
// write to inputs, for operators whose results share memory with inputs, and for some others, as in
// ExecuTorch.
bool may_keep(std::string_view target);

// Infers the dtypes, sizes and strides of results again. Skips operators that aot/operators does
// not support.
void propagate_specs(ExportedProgram& program);

void remove_dead_code(ExportedProgram& program);
// Removes parameters without users. Keeps unused buffers.
void remove_unused_parameters(ExportedProgram& program);
// Removes run-time checks of sizes and values, which the edge dialect does not have.
void remove_asserts(ExportedProgram& program);
// Replaces views with copies: "aten.permute" -> "aten.permute_copy".
void views_to_copies(ExportedProgram& program);
// True for operators that views_to_copies() replaces.
bool is_view(Target target);
// Replaces numbers that calls pass for tensor operands. A literal becomes a constant
// "_lifted_tensor_constant<n>", and a number that a node computes becomes a call to
// aten.scalar_tensor.
void scalars_to_tensors(ExportedProgram& program);
// Removes conversions and slices that change nothing, and empty tensors in concatenations.
void remove_no_ops(ExportedProgram& program);
// Converts operands of different dtypes to the dtype in which the operator computes.
void convert_mixed_dtypes(ExportedProgram& program);
// Replaces memory formats with dim orders: aten.clone -> dim_order_ops._clone_dim_order.
void memory_formats_to_dim_orders(ExportedProgram& program);
// Replaces the targets of calls with edge targets.
void to_edge_targets(ExportedProgram& program);
// Like to_edge_targets(), but also gives calls the names that FX would give them, and renames
// subgraphs to submodule_<n>.
void to_edge_dialect(ExportedProgram& program);
// Gives each call, and each get_attr node of a subgraph, a debug handle: the number of its source
// node. The numbers start at 1, in order of appearance (docs/formats/pt2.md).
void generate_debug_handles(ExportedProgram& program);
// Returns the name and the graph id of a node's source node, or an empty text if none is recorded.
// All nodes with this source have the same debug handle.
std::string source_of(const Node& node);

// Replaces each auto_functionalized_v2 call with a call to the operator that it wraps. The new call
// writes to its arguments. If the old value of an argument is read later, the new call writes to a
// copy of the argument.
void write_in_place(ExportedProgram& program);
// In loop bodies, copies results that are views, and inputs that the body returns at another
// position.
void copy_carried(ExportedProgram& program);
// Copies two kinds of values: inputs that a branch returns unchanged, and branch results that are
// read after another branch or loop body has run.
void copy_branch_results(ExportedProgram& program);
// At the end of the graph, adds calls to aten.copy_ that write the new values of mutated buffers.
void write_back_buffers(ExportedProgram& program);
// Replaces index_put with index_put_ if no later node reads the old value. Never writes to inputs
// that the program does not mutate.
void reinplace(ExportedProgram& program);
// Replaces view_copy with memory.view, which shares the memory of its input, unless the result is
// an output of the graph.
void elide_views(ExportedProgram& program);

}  // namespace vitrine::aot
