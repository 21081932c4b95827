#include <algorithm>
#include <unordered_set>
#include <utility>

#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/operators/infer.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

// True for indexing with a mask. The result's size then depends on the mask's elements.
bool has_mask(const Node& node) {
  if (!node.target().is("aten.index.Tensor")) return false;
  for (const Node* input : node.inputs()) {
    if (input->tensor() != nullptr && input->tensor()->dtype == ScalarType::kBool) return true;
  }
  return false;
}

bool has_changed_input(const Node& node, const std::unordered_set<const Node*>& changed) {
  return std::ranges::any_of(node.inputs(),
                             [&](const Node* input) { return changed.contains(input); });
}

}  // namespace

void propagate_specs(ExportedProgram& program) {
  std::unordered_set<const Node*> changed;
  for_each_call(*program.graph, [&](Node& node) {
    if (node.target().is_declared() && has_changed_input(node, changed)) {
      fail_at(node,
              "a pass changed the shapes of its arguments, so the shapes of its results are "
              "unknown");
    }
    const bool has_tensors = node.tensor() != nullptr || node.meta.value.items() != nullptr;
    if (!has_tensors || !can_infer(node.target()) || has_mask(node)) return;
    try {
      Value value = infer(node.target(), node.args(), node.kwargs());
      if (value != node.meta.value) changed.insert(&node);
      node.meta.value = std::move(value);
    } catch (const AotError& error) {
      fail_at(node, error.what());
    }
  });
}

}  // namespace vitrine::aot
