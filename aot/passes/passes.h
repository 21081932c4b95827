// The passes that turn a program of torch.export into a program that the runtime executes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"
#include "aot/graph/ops_to_keep.h"

namespace vitrine::aot {

// Records the source node of each call and get_attr node: the origin in the file, or else the node
// itself. A getitem has the source node of its call.
void remember_sources(ExportedProgram& program);

// Inlines torch.no_grad() blocks and disabled torch.autocast() blocks. Throws AotError for an
// enabled torch.autocast().
void inline_wrapped(ExportedProgram& program);
// Removes the calls that start and end torch.vmap, and adds the batch dim to the calls in between.
// Throws an AotError that names an operator without support for a batch dim.
void inline_vmap(ExportedProgram& program);
// Replaces in-place views ("t_") with views, and Python's "x |= y" with ATen's "bitwise_or_".
void unify_writes(ExportedProgram& program);
// Returns "aten.relu.default" for "aten.relu_.default".
std::string without_underscore(std::string_view name);

// Replaces calls that write to an argument ("relu_") with calls that do not write. Adds the
// mutations of inputs to the signature.
void functionalize(ExportedProgram& program);
// Decomposes operators if the program has calls that write to an argument. Runs before
// functionalize(), which can track aliases only through views. Unlike decompose(), keeps operators
// without a decomposition.
void decompose_around_writes(ExportedProgram& program, std::span<const std::string> preserved = {},
                             std::span<const OpsToKeep> ops_to_keep = {});
// Decomposes operators that are not core ATen into core ATen. Throws an AotError that names an
// operator without a decomposition and its line in the user's model.
//
// Keeps the operators in `preserved` (ATen names), and calls in `ops_to_keep` if may_keep() is true
// for their operators. Partitioners choose these calls after all other calls are decomposed.
void decompose(ExportedProgram& program, std::span<const std::string> preserved = {},
               std::span<const OpsToKeep> ops_to_keep = {});
// Decomposes quantization calls that no backend delegated (LATE in the operator table). Runs after
// partitioning of an edge program.
void decompose_late(ExportedProgram& program);
// True if a partitioner may keep the operator. False for operators that write to inputs, for
// operators whose results share memory with inputs, and for some others, as in ExecuTorch.
bool may_keep(std::string_view target);

// Infers the specs of results again. Skips operators that aot/operators does not support.
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
// Replaces numbers that calls pass for tensor operands. A literal becomes a constant, and a
// computed number becomes a call to aten.scalar_tensor.
void scalars_to_tensors(ExportedProgram& program);
// Removes conversions and slices that change nothing, and empty tensors in concatenations.
void remove_no_ops(ExportedProgram& program);
// Converts operands of different dtypes to the dtype in which the operator computes.
void convert_mixed_dtypes(ExportedProgram& program);
// Replaces memory formats with dim orders: aten.clone -> dim_order_ops._clone_dim_order.
void memory_formats_to_dim_orders(ExportedProgram& program);
// Replaces the targets of calls with edge targets.
void to_edge_targets(ExportedProgram& program);
// Like to_edge_targets(), but also renames calls like FX, and subgraphs to submodule_<n>.
void to_edge_dialect(ExportedProgram& program);
// Numbers the source nodes from 1 in order of appearance (docs/formats/pt2.md). Each call and each
// get_attr node of a subgraph gets the number of its source node as its debug handle.
void generate_debug_handles(ExportedProgram& program);
// Returns the name and graph id of a node's source node, or an empty text without a source. Nodes
// with the same source have the same debug handle.
std::string source_of(const Node& node);

// Replaces each auto_functionalized_v2 call with the wrapped call. If the old value of an argument
// is read later, the new call writes to a copy of the argument.
void write_in_place(ExportedProgram& program);
// Copies results of loop bodies that the loop could overwrite before it reads them.
void copy_carried(ExportedProgram& program);
// Copies results of branches that other nodes could overwrite before they are read.
void copy_branch_results(ExportedProgram& program);
// At the end of the graph, adds calls to aten.copy_ that write the new values of mutated buffers.
void write_back_buffers(ExportedProgram& program);
// Replaces index_put with index_put_ if no later node reads the old value. Never writes to inputs
// that the program does not mutate.
void reinplace(ExportedProgram& program);
// Replaces view_copy with memory.view, which shares memory, unless the result is an output.
void elide_views(ExportedProgram& program);

}  // namespace vitrine::aot
