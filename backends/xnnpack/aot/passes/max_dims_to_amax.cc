#include <algorithm>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {

void max_dims_to_amax(Preprocessing& p) {
  each_call(p.graph(), [&](Node& node) {
    if (!calls_op(node, "max.dim") || node.users().empty()) return;
    const std::vector<Node*> users(node.users().begin(), node.users().end());
    if (!std::ranges::all_of(users, [](const Node* user) {
          return user->calls(getitem()) && item_index(*user) == 0;
        })) {
      return;
    }
    Node* input = operand(node, 0);
    const Argument dims = std::vector<int64_t>{Call(node).integer("dim")};
    Node* amax = p.insert(node, "aten.amax.default", {input, dims, Call(node).boolean("keepdim")},
                          spec_of(*users.front()));
    amax->meta.debug_handle = node.meta.debug_handle;
    for (Node* values : users) {
      p.absorb(*amax, *values);
      for (OutputSpec& output : p.program().signature.outputs) {
        if (output.name == values->name()) output.name = amax->name();
      }
      values->replace_all_uses_with(amax);
    }
  });
}

}  // namespace vitrine::aot::xnnpack
