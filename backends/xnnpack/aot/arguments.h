// What calls take and compute. Their arguments are read by name: aot/shapes/call.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/shapes/call.h"

namespace vitrine::aot::xnnpack {

// "add.Tensor": the operator without its namespace, unless it is a custom one, which may be called
// as one of ATen's. Of calls.
std::string_view op_name(const Node& node);
bool calls_op(const Node& node, std::string_view name);

// The node that stands as an argument, whatever it computes: by name, or by its place in the
// signature. Null if the argument is not given, or is not a node.
Node* operand(const Node& node, std::string_view name);
Node* operand(const Node& node, size_t index);
// The same; AotError if there is none.
Node& required(const Node& node, std::string_view name);
Node& required(const Node& node, size_t index);
// Which of several results a getitem call takes.
int64_t item_index(const Node& node);
// The strides of a pooling; by default the sizes of its kernel.
std::vector<int64_t> pooling_strides(const Node& node, const std::vector<int64_t>& kernel);
// A dim counted from the end -> from the start. AotError if there is no such dim.
size_t wrapped_dim(const Node& node, int64_t dim, size_t rank);

// A spec of one of the node's results. AotError if it computes no tensor.
const TensorSpec& spec_of(const Node& node);

// How many sizes are known only when the program runs. XNNPACK's reshapes infer one.
size_t count_dynamic(const TensorSpec& spec);

// The data of a parameter, of a constant, or of a buffer that nothing writes to; null for other
// nodes.
const TensorData* static_data(const ExportedProgram& program, const Node* node);

// The static data of a program's placeholders, as static_data finds them. It stays true when the
// program is moved, not when it is copied or its signature is changed.
class Parameters {
 public:
  explicit Parameters(const ExportedProgram& program);
  bool has(const Node* node) const { return find(node) != nullptr; }
  // Whether a node is in the program's own graph, not in a branch.
  bool is_outermost(const Node& node) const { return &node.graph() == graph_; }
  const TensorData* find(const Node* node) const;

 private:
  const Graph* graph_;
  TensorMap by_name_;
};

}  // namespace vitrine::aot::xnnpack
