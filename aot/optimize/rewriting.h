// Helper functions for the rules of optimization.
#pragma once

#include <string_view>

#include "aot/graph/pass.h"
#include "aot/optimize/changes.h"

namespace vitrine::aot {

// Returns the data of an unmutated weight, and null for any other node.
const TensorData* constant_of(const ExportedProgram& program, const Node* node);
// Returns the argument if it is a node with a tensor, and otherwise null.
Node* tensor_arg(const Node& node, size_t index);
// True if the node calls the operator with this name ("aten.mul.Scalar") in any dialect. The node
// may be null.
bool calls(const Node* node, std::string_view target);
Target edge(std::string_view target);

// True if both tensors have the same dtype, sizes and order of elements in memory.
bool have_same_layout(const TensorSpec& a, const TensorSpec& b);
bool is_result(const Node& node);  // true if the node is an output of its graph
// True if the users of `node` may use `other`. For an output, `other` must have separate memory.
bool can_replace(const Node& node, const Node& other);

}  // namespace vitrine::aot
