#include <algorithm>

#include "aot/passes/pass.h"
#include "aot/passes/passes.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot {
namespace {

// Then both have the same order of elements.
bool lies_row_major(const Node* node) {
  if (node == nullptr || node->tensor() == nullptr) return false;
  const TensorSpec& spec = *node->tensor();
  return is_contiguous(spec) || std::ranges::is_sorted(kept_dim_order(spec));
}

}  // namespace

void elide_views(ExportedProgram& program) {
  const Target view_copy = Target::of("aten.view_copy.default", Dialect::kEdge);
  const Target view = Target::of("memory.view", Dialect::kPython);
  for_each_call(*program.graph, [&](Node& node) {
    if (node.target() != view_copy) return;
    // A view of a view is a view of the base.
    const Node* base = node.need(0).node();
    if (base != nullptr && (base->calls(view_copy) || base->calls(view))) {
      node.set_arg(0, base->need(0));
    }
    // An output needs separate memory, which the caller may provide.
    const bool is_result = std::ranges::any_of(
        node.users(), [](const Node* user) { return user->kind() == Node::Kind::kOutput; });
    if (!is_result && lies_row_major(node.need(0).node()) && lies_row_major(&node)) {
      node.set_target(view);
    }
  });
}

}  // namespace vitrine::aot
