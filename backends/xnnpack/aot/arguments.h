// Reading the arguments of calls, by position or name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot::xnnpack {

// "add.Tensor": the operator without its namespace. Of calls.
std::string_view op_name(const Node& node);
bool calls_op(const Node& node, std::string_view name);

// The position of an argument that an operator does not have.
inline constexpr size_t kNoArgument = SIZE_MAX;

// Null if it is not given, or None.
const Argument* argument(const Node& node, size_t index, std::string_view name);
// `fallback` if it is not given. AotErrors name the node if it is of another kind.
int64_t integer(const Node& node, size_t index, std::string_view name, int64_t fallback);
double real(const Node& node, size_t index, std::string_view name, double fallback);
bool boolean(const Node& node, size_t index, std::string_view name, bool fallback);
// A list, or one number for all, as `count` numbers (0: as it is). Empty if it is not given.
std::vector<int64_t> integers(const Node& node, size_t index, std::string_view name, size_t count);
// Null if it is not given, or no node.
Node* operand(const Node& node, size_t index, std::string_view name = {});
// The same; AotError if it is not given, or no node.
Node& required(const Node& node, size_t index, std::string_view name = {});
// A dim counted from the end -> from the start. AotError if there is no such dim.
size_t wrapped_dim(const Node& node, int64_t dim, size_t rank);

// A spec of one of the node's results. AotError if it computes no tensor.
const TensorSpec& spec_of(const Node& node);

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
