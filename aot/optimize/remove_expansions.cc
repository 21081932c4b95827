#include "aot/operators/infer.h"
#include "aot/operators/strides.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

// True if the call may read the contiguous `source` instead of the expanded argument. The result
// must keep its dtype, sizes and memory layout.
bool accepts_unexpanded(const Node& node, size_t index, Node& source) {
  const TensorSpec* result = node.tensor();
  if (result == nullptr || !is_contiguous(*source.tensor())) return false;
  ArgumentList args = node.args();
  args[index] = &source;
  const Value inferred = infer(node.target(), args, node.kwargs());
  const auto* spec = std::get_if<TensorSpec>(&inferred.content);
  return spec != nullptr && have_same_layout(*spec, *result);
}

}  // namespace

void remove_expansions(ExportedProgram& program, Changes& changes) {
  for_each_call(*program.graph, [&](Node& node) {
    if (!is_elementwise(node.target())) return;
    for (size_t i = 0; i < node.args().size(); ++i) {
      Node* expanded = tensor_arg(node, i);
      if (!calls(expanded, "aten.expand_copy.default")) continue;
      Node* source = tensor_arg(*expanded, 0);
      if (source == nullptr || !accepts_unexpanded(node, i, *source)) continue;
      node.set_arg(i, source);
      if (expanded->users().empty()) {
        changes.remove("expansion removed before a call that broadcasts", *expanded);
      }
    }
  });
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
