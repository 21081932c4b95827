#include <algorithm>
#include <unordered_set>

#include "aot/graph/pass.h"
#include "aot/operators/infer.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {

bool is_view(Target target) {
  const Operator* op = operator_of(target);
  return op != nullptr && op->is_view();
}

void views_to_copies(ExportedProgram& program) {
  // Nodes whose strides changed.
  std::unordered_set<const Node*> changed;
  const auto set_strides = [&](Node& node, const TensorSpec& spec) {
    if (spec.strides != node.tensor()->strides) changed.insert(&node);
    node.meta.value = spec;
  };
  for_each_call(*program.graph, [&](Node& node) {
    const TensorSpec* spec = node.tensor();
    if (is_view(node.target())) {
      node.set_target(Target::of(operator_of(node.target())->copy->target));
      if (spec == nullptr) return;
      // A copy is contiguous, even if the replaced view is not.
      TensorSpec contiguous = *spec;
      contiguous.strides = contiguous_strides(contiguous.sizes);
      contiguous.storage_offset = 0;
      set_strides(node, contiguous);
      return;
    }
    const std::vector<Node*> inputs = node.inputs();
    const bool has_changed_input =
        std::ranges::any_of(inputs, [&](const Node* input) { return changed.contains(input); });
    if (!has_changed_input || spec == nullptr) return;
    // Quantize and dequantize calls keep the layout of their input.
    const TensorSpec* first = inputs.front()->tensor();
    if (is_quantization(node.target()) && first != nullptr && first->sizes == spec->sizes) {
      TensorSpec moved = *spec;
      moved.strides = first->strides;
      set_strides(node, moved);
    }
    if (!can_infer(node.target())) return;
    const Value result = infer(node.target(), node.args(), node.kwargs());
    if (result.tensor() == nullptr || result.tensor()->sizes != spec->sizes) return;
    TensorSpec moved = *spec;
    moved.strides = result.tensor()->strides;
    set_strides(node, moved);
  });
}

}  // namespace vitrine::aot
