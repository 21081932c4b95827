#include "backends/xnnpack/aot/arguments.h"

#include <fmt/format.h>

#include "aot/graph/aot_error.h"

namespace vitrine::aot::xnnpack {
namespace {

[[noreturn]] void refuse(const Node& node, std::string_view name, std::string_view wanted) {
  throw AotError(
      fmt::format("node {} ({}): {} is not {}", node.name(), node.target().name(), name, wanted));
}

}  // namespace

std::string_view op_name(const Node& node) {
  const std::string_view name = node.target().name();
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool calls_op(const Node& node, std::string_view name) {
  return node.is_call() && op_name(node) == name;
}

const Argument* argument(const Node& node, size_t index, std::string_view name) {
  const Argument* found = node.arg(index);
  if (found == nullptr) found = node.kwarg(name);
  return found == nullptr || found->is_none() ? nullptr : found;
}

int64_t integer(const Node& node, size_t index, std::string_view name, int64_t fallback) {
  const Argument* found = argument(node, index, name);
  if (found == nullptr) return fallback;
  if (const auto* value = found->get<int64_t>()) return *value;
  refuse(node, name, "an integer");
}

double real(const Node& node, size_t index, std::string_view name, double fallback) {
  const Argument* found = argument(node, index, name);
  if (found == nullptr) return fallback;
  if (const auto* value = found->get<double>()) return *value;
  if (const auto* value = found->get<int64_t>()) return static_cast<double>(*value);
  if (const auto* value = found->get<bool>()) return *value ? 1.0 : 0.0;
  refuse(node, name, "a number");
}

bool boolean(const Node& node, size_t index, std::string_view name, bool fallback) {
  const Argument* found = argument(node, index, name);
  if (found == nullptr) return fallback;
  if (const auto* value = found->get<bool>()) return *value;
  if (const auto* value = found->get<int64_t>()) return *value != 0;
  refuse(node, name, "a boolean");
}

std::vector<int64_t> integers(const Node& node, size_t index, std::string_view name, size_t count) {
  const Argument* found = argument(node, index, name);
  std::vector<int64_t> values;
  if (found == nullptr) return values;
  if (const auto* number = found->get<int64_t>()) {
    values.push_back(*number);
  } else if (const ArgumentList* items = found->list()) {
    for (const Argument& item : *items) {
      const auto* value = item.get<int64_t>();
      if (value == nullptr) refuse(node, name, "a list of integers");
      values.push_back(*value);
    }
  } else {
    refuse(node, name, "a list of integers");
  }
  if (values.size() == 1 && count > 1) values.resize(count, values.front());
  if (count != 0 && !values.empty() && values.size() != count) {
    refuse(node, name, fmt::format("a list of {}", count));
  }
  return values;
}

Node* operand(const Node& node, size_t index, std::string_view name) {
  const Argument* found = argument(node, index, name);
  return found == nullptr ? nullptr : found->node();
}

Node& required(const Node& node, size_t index, std::string_view name) {
  Node* found = operand(node, index, name);
  if (found == nullptr) {
    throw AotError(fmt::format("node {} ({}): argument {} is not a tensor", node.name(),
                               node.target().name(), index));
  }
  return *found;
}

size_t wrapped_dim(const Node& node, int64_t dim, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (dim < -count || dim >= count) {
    throw AotError(fmt::format("node {} ({}): dim {} of a tensor of rank {}", node.name(),
                               node.target().name(), dim, rank));
  }
  return static_cast<size_t>(dim < 0 ? dim + count : dim);
}

const TensorSpec& spec_of(const Node& node) {
  if (node.tensor() == nullptr) {
    throw AotError(fmt::format("node {}: it computes no single tensor", node.name()));
  }
  return *node.tensor();
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
