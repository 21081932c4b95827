// Helper functions for the rules.
#pragma once

#include <string_view>

#include "aot/graph/pass.h"
#include "aot/optimize/changes.h"

namespace vitrine::aot {

// Returns the data of a weight that the program does not mutate; null for all other nodes.
const TensorData* constant_of(const ExportedProgram& program, const Node* node);
// Returns the argument at this index if it is a tensor node; else null.
Node* tensor_arg(const Node& node, size_t index);
// True if the node calls the operator of this name ("aten.mul.Scalar") in any dialect. The node may
// be null.
bool calls(const Node* node, std::string_view target);
// Returns the operator of this name in the edge dialect.
Target edge(std::string_view target);

// True if both have the same dtype, sizes and order of elements in memory.
bool have_same_layout(const TensorSpec& a, const TensorSpec& b);
bool is_result(const Node& node);  // true if the node is an output of its graph
// True if the users of `node` may use `other` instead. An output of a graph can only be replaced by
// a call whose result has separate memory.
bool can_replace(const Node& node, const Node& other);

}  // namespace vitrine::aot
