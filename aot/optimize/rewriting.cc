#include "aot/optimize/rewriting.h"

#include <algorithm>

#include "aot/operators/strides.h"

namespace vitrine::aot {

const TensorData* constant_of(const ExportedProgram& program, const Node* node) {
  if (node == nullptr || node->kind() != Node::Kind::kPlaceholder ||
      &node->graph() != program.graph.get()) {
    return nullptr;
  }
  const InputSpec* spec = program.input_of(node->name());
  return spec == nullptr || program.is_mutated(*spec) ? nullptr : program.data_of(*spec);
}

Node* tensor_arg(const Node& node, size_t index) {
  const Argument* given = node.arg(index);
  Node* found = given == nullptr ? nullptr : given->node();
  return found == nullptr || found->tensor() == nullptr ? nullptr : found;
}

bool calls(const Node* node, std::string_view target) {
  return node != nullptr && node->is_call() && node->target().is(target);
}

Target edge(std::string_view target) { return Target::of(target, Dialect::kEdge); }

bool have_same_layout(const TensorSpec& a, const TensorSpec& b) {
  if (a.dtype != b.dtype || a.sizes != b.sizes) return false;
  if (is_contiguous(a) && is_contiguous(b)) return true;
  return kept_dim_order(a) == kept_dim_order(b);
}

bool is_result(const Node& node) {
  return std::ranges::any_of(node.users(),
                             [](const Node* user) { return user->kind() == Node::Kind::kOutput; });
}

bool can_replace(const Node& node, const Node& other) {
  return !is_result(node) || (other.is_call() && !other.target().is("memory.view") &&
                              !is_in_place(other.target()) && !is_result(other));
}

}  // namespace vitrine::aot
