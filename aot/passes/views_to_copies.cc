#include <algorithm>
#include <array>
#include <unordered_set>

#include "aot/passes/pass.h"
#include "aot/passes/passes.h"
#include "aot/shapes/infer.h"

namespace vitrine::aot {
namespace {

struct View {
  std::string_view view;
  std::string_view copy;
};
constexpr std::array kViews = {
    View{"aten.alias.default", "aten.alias_copy.default"},
    View{"aten.as_strided.default", "aten.as_strided_copy.default"},
    View{"aten.detach.default", "aten.detach_copy.default"},
    View{"aten.diagonal.default", "aten.diagonal_copy.default"},
    View{"aten.expand.default", "aten.expand_copy.default"},
    View{"aten.permute.default", "aten.permute_copy.default"},
    View{"aten.select.int", "aten.select_copy.int"},
    View{"aten.slice.Tensor", "aten.slice_copy.Tensor"},
    View{"aten.split.Tensor", "aten.split_copy.Tensor"},
    View{"aten.split_with_sizes.default", "aten.split_with_sizes_copy.default"},
    View{"aten.squeeze.default", "aten.squeeze_copy.default"},
    View{"aten.squeeze.dim", "aten.squeeze_copy.dim"},
    View{"aten.squeeze.dims", "aten.squeeze_copy.dims"},
    View{"aten.t.default", "aten.t_copy.default"},
    View{"aten.transpose.int", "aten.transpose_copy.int"},
    View{"aten.unbind.int", "aten.unbind_copy.int"},
    View{"aten.unfold.default", "aten.unfold_copy.default"},
    View{"aten.unsqueeze.default", "aten.unsqueeze_copy.default"},
    View{"aten.view.default", "aten.view_copy.default"},
    View{"aten.view_as_real.default", "aten.view_as_real_copy.default"},
};

}  // namespace

bool is_view(Target target) { return std::ranges::count(kViews, target.name(), &View::view) != 0; }

void views_to_copies(ExportedProgram& program) {
  // Nodes whose strides are others now, and with them those of what is made of them.
  std::unordered_set<const Node*> changed;
  const auto set_strides = [&](Node& node, const TensorSpec& spec) {
    if (spec.strides != node.tensor()->strides) changed.insert(&node);
    node.meta.value = spec;
  };
  for_each_call(*program.graph, [&](Node& node) {
    const TensorSpec* spec = node.tensor();
    const auto found = std::ranges::find(kViews, node.target().name(), &View::view);
    if (found != kViews.end()) {
      node.set_target(Target::of(found->copy));
      if (spec == nullptr) return;
      // A copy is dense, whatever the view's strides were.
      TensorSpec dense = *spec;
      dense.strides = contiguous_strides(dense.sizes);
      dense.storage_offset = 0;
      set_strides(node, dense);
      return;
    }
    const std::vector<Node*> inputs = node.inputs();
    const bool follows =
        std::ranges::any_of(inputs, [&](const Node* input) { return changed.contains(input); });
    if (!follows || spec == nullptr) return;
    // Quantised numbers lie as those that they are made of.
    const TensorSpec* first = inputs.front()->tensor();
    const std::string_view space = node.target().name_space();
    if ((space == "quantized_decomposed" || space == "torchao") && first != nullptr &&
        first->sizes == spec->sizes) {
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
