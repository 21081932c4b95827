#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {
namespace {

bool is_copy(const Node& node) {
  return calls_op(node, "_clone_dim_order.default") || calls_op(node, "clone.default") ||
         calls_op(node, "_to_dim_order_copy.default") || calls_op(node, "alias_copy.default");
}

bool is_output(const Node& node) {
  for (const Node* user : node.users()) {
    if (user->kind() == Node::Kind::kOutput) return true;
  }
  return false;
}

}  // namespace

void remove_identity_copies(Preprocessing& p) {
  each_call(p.graph(), [&](Node& node) {
    if (!is_copy(node)) return;
    Node& source = required(node, 0);
    const TensorSpec& before = spec_of(source);
    const TensorSpec& after = spec_of(node);
    if (before.dtype != after.dtype || kept_dim_order(before) != kept_dim_order(after)) return;
    // Keeps this copy: a value of a payload cannot be two outputs, or an input and an output.
    const bool is_argument = source.kind() == Node::Kind::kPlaceholder || is_output(source);
    if (is_output(node) && is_argument) return;
    // If the source is an input, the copy's users get the debug handles of the copy.
    if (source.is_call()) {
      p.absorb(source, node);
    } else {
      for (const Node* user : node.users()) p.absorb(*user, node);
    }
    p.replace(node, source);
  });
}

}  // namespace vitrine::aot::xnnpack
