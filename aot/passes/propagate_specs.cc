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

}  // namespace

void propagate_specs(ExportedProgram& program) {
  for_each_call(*program.graph, [](Node& node) {
    const bool has_tensors = node.tensor() != nullptr || node.meta.value.items() != nullptr;
    if (!has_tensors || !can_infer(node.target()) || has_mask(node)) return;
    try {
      node.meta.value = infer(node.target(), node.args(), node.kwargs());
    } catch (const AotError& error) {
      fail_at(node, error.what());
    }
  });
}

}  // namespace vitrine::aot
