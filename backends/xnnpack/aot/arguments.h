#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/operators/call.h"

namespace vitrine::aot::xnnpack {

// Returns the name of a call's operator without the namespace "aten", e.g. "add.Tensor". Keeps the
// namespace of a custom operator.
std::string_view op_name(const Node& node);
bool calls_op(const Node& node, std::string_view name);

// Returns the node of an argument. Returns null if the argument is missing or is not a node.
Node* operand(const Node& node, std::string_view name);
Node* operand(const Node& node, size_t index);
// Throws AotError if operand() would return null.
Node& required(const Node& node, std::string_view name);
Node& required(const Node& node, size_t index);
int64_t item_index(const Node& node);
// Returns the strides of a pooling call. The default is the kernel's sizes.
std::vector<int64_t> pooling_strides(const Node& node, const std::vector<int64_t>& kernel);
// Converts a dim that may be negative. Throws AotError if the dim is out of range.
size_t wrapped_dim(const Node& node, int64_t dim, size_t rank);

// Returns the spec of the node's result. Throws AotError if the result is not a single tensor.
const TensorSpec& spec_of(const Node& node);

// Counts the sizes that are known only at run time.
size_t count_dynamic(const TensorSpec& spec);

// Returns the data of a constant, or of a parameter or buffer that the program does not change.
// Returns null for all other nodes.
const TensorData* static_data(const ExportedProgram& program, const Node* node);

// A faster static_data(). Stays valid if the program is moved. Not valid for a copy of the program,
// or after a change of the signature.
class Parameters {
 public:
  explicit Parameters(const ExportedProgram& program);
  bool has(const Node* node) const { return find(node) != nullptr; }
  // Returns true if the node is in the program's top-level graph, not in a branch.
  bool is_outermost(const Node& node) const { return &node.graph() == graph_; }
  const TensorData* find(const Node* node) const;

 private:
  const Graph* graph_;
  TensorMap by_name_;
};

}  // namespace vitrine::aot::xnnpack
