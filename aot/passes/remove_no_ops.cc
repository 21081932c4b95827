#include <algorithm>

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

bool is_empty(const Argument& argument) {
  const Node* node = argument.node();
  return node != nullptr && node->tensor() != nullptr &&
         std::ranges::any_of(node->tensor()->sizes,
                             [](const SymInt& size) { return size == SymInt(0); });
}

void prune_empty_tensors(Node& node) {
  const ArgumentList* tensors = node.need(0).list();
  if (tensors == nullptr) return;
  ArgumentList kept;
  for (const Argument& tensor : *tensors) {
    if (!is_empty(tensor)) kept.push_back(tensor);
  }
  if (!kept.empty() && kept.size() < tensors->size()) node.set_arg(0, Argument::list(kept));
}

bool changes_nothing(const Node& node) {
  const bool is_slice = node.target().is("aten.slice_copy.Tensor");
  const bool is_conversion = node.target().is("aten._to_copy.default");
  if (!is_slice && !is_conversion) return false;
  const Node* input = node.need(0).node();
  if (input == nullptr || input->tensor() == nullptr || node.tensor() == nullptr) return false;
  const TensorSpec& before = *input->tensor();
  const TensorSpec& after = *node.tensor();
  if (before.sizes != after.sizes) return false;
  return is_slice || (before.dtype == after.dtype && before.device == after.device &&
                      before.layout == after.layout && dim_order_of(before) == dim_order_of(after));
}

}  // namespace

void remove_no_ops(ExportedProgram& program) {
  for_each_call(*program.graph, [&](Node& node) {
    if (node.target().is("aten.cat.default")) {
      prune_empty_tensors(node);
    } else if (changes_nothing(node)) {
      replace_node(program, node, *node.args()[0].node());
    }
  });
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
