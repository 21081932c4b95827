#include "backends/xnnpack/aot/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"

namespace vitrine::aot::xnnpack {
std::string_view op_name(const Node& node) {
  const std::string_view name = node.target().name();
  if (node.target().is_declared()) return name;
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool calls_op(const Node& node, std::string_view name) {
  return node.is_call() && op_name(node) == name;
}

Node* operand(const Node& node, std::string_view name) {
  const Argument* found = Call(node).find(name);
  return found == nullptr ? nullptr : found->node();
}

Node* operand(const Node& node, size_t index) {
  const Argument* found = Call(node).find(index);
  return found == nullptr ? nullptr : found->node();
}

Node& required(const Node& node, std::string_view name) {
  Node* found = operand(node, name);
  if (found == nullptr) Call(node).refuse(fmt::format("{} is not a tensor", name));
  return *found;
}

Node& required(const Node& node, size_t index) {
  Node* found = operand(node, index);
  if (found == nullptr) Call(node).refuse(fmt::format("argument {} is not a tensor", index));
  return *found;
}

int64_t item_index(const Node& node) {
  const Argument* found = Call(node).find(1);
  const auto* index = found == nullptr ? nullptr : found->get<int64_t>();
  if (index == nullptr) Call(node).refuse("its index is not an integer");
  return *index;
}

std::vector<int64_t> pooling_strides(const Node& node, const std::vector<int64_t>& kernel) {
  const Call call(node);
  return call.integers("stride").empty() ? kernel : call.integers("stride", kernel.size());
}

size_t wrapped_dim(const Node& node, int64_t dim, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (dim < -count || dim >= count) {
    throw AotError(fmt::format("node {} ({}): dim {} is out of range for rank {}", node.name(),
                               node.target().name(), dim, rank));
  }
  return static_cast<size_t>(dim < 0 ? dim + count : dim);
}

const TensorSpec& spec_of(const Node& node) {
  if (node.tensor() == nullptr) {
    throw AotError(fmt::format("node {}: its result is not a single tensor", node.name()));
  }
  return *node.tensor();
}

size_t count_dynamic(const TensorSpec& spec) {
  return static_cast<size_t>(
      std::ranges::count_if(spec.sizes, [](const SymInt& size) { return !size.is_static(); }));
}

const TensorData* static_data(const ExportedProgram& program, const Node* node) {
  if (node == nullptr || node->kind() != Node::Kind::kPlaceholder) return nullptr;
  if (&node->graph() != program.graph.get()) return nullptr;
  const InputSpec* input = program.input_of(node->name());
  if (input == nullptr || program.is_mutated(*input)) return nullptr;
  return program.data_of(*input);
}

Parameters::Parameters(const ExportedProgram& program) : graph_(program.graph.get()) {
  for (const InputSpec& input : program.signature.inputs) {
    const TensorData* data = program.data_of(input);
    if (data != nullptr && !program.is_mutated(input)) by_name_.emplace(input.name, *data);
  }
}

const TensorData* Parameters::find(const Node* node) const {
  if (node == nullptr || node->kind() != Node::Kind::kPlaceholder || &node->graph() != graph_) {
    return nullptr;
  }
  const auto found = by_name_.find(node->name());
  return found == by_name_.end() ? nullptr : &found->second;
}

}  // namespace vitrine::aot::xnnpack
