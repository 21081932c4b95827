// Helper functions for the rules of optimization.
#pragma once

#include <string_view>

#include "aot/graph/pass.h"
#include "aot/optimize/changes.h"

namespace vitrine::aot {

// Returns the data of a weight that the program does not mutate, and null for any other node.
const TensorData* constant_of(const ExportedProgram& program, const Node* node);
// Returns the argument at this index if it is a node whose value is a tensor, and otherwise null.
Node* tensor_arg(const Node& node, size_t index);
// True if the node calls the operator with this name ("aten.mul.Scalar") in any dialect. The node
// may be null.
bool calls(const Node* node, std::string_view target);
// Returns the edge dialect's operator with this name.
Target edge(std::string_view target);

// True if both tensors have the same dtype, sizes and order of elements in memory.
bool have_same_layout(const TensorSpec& a, const TensorSpec& b);
bool is_result(const Node& node);  // true if the node is an output of its graph
// True if the users of `node` may use `other` instead. If `node` is an output of a graph, `other`
// must be a call whose result has separate memory.
bool can_replace(const Node& node, const Node& other);

}  // namespace vitrine::aot
