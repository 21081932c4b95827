#include <algorithm>
#include <unordered_set>
#include <utility>

#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"
#include "aot/shapes/infer.h"

namespace vitrine::aot {
namespace {

// How many elements it picks depends on the numbers.
bool has_mask(const Node& node) {
  if (!node.target().is("aten.index.Tensor")) return false;
  for (const Node* input : node.inputs()) {
    if (input->tensor() != nullptr && input->tensor()->dtype == ScalarType::kBool) return true;
  }
  return false;
}

bool takes_any(const Node& node, const std::unordered_set<const Node*>& changed) {
  return std::ranges::any_of(node.inputs(),
                             [&](const Node* each) { return changed.contains(each); });
}

}  // namespace

void propagate_specs(ExportedProgram& program) {
  std::unordered_set<const Node*> changed;
  for_each_call(*program.graph, [&](Node& node) {
    if (node.target().is_declared() && takes_any(node, changed)) {
      fail_at(node,
              "its arguments have other shapes than in the export, so that those of its "
              "results are unknown");
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
