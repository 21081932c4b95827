#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {

void max_dims_to_amax(Preprocessing& p) {
  each_call(p.graph(), [&](Node& node) {
    if (!calls_op(node, "max.dim") || node.users().size() != 1) return;
    Node& values = *node.users().front();
    if (!values.calls(getitem()) || item_index(values) != 0) return;
    Node* input = operand(node, 0);
    const Argument dims = std::vector<int64_t>{Call(node).integer("dim")};
    Node* amax = p.insert(node, "aten.amax.default", {input, dims, Call(node).boolean("keepdim")},
                          spec_of(values));
    amax->meta.debug_handle = node.meta.debug_handle;
    p.absorb(*amax, values);
    for (OutputSpec& output : p.program().signature.outputs) {
      if (output.name == values.name()) output.name = amax->name();
    }
    values.replace_all_uses_with(amax);
  });
}

}  // namespace vitrine::aot::xnnpack
