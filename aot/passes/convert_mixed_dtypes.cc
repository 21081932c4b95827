#include "aot/graph/pass.h"
#include "aot/operators/promotion.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {

void convert_mixed_dtypes(ExportedProgram& program) {
  for_each_call(*program.graph, [](Node& node) {
    const Operator* op = operator_of(node.target());
    const Promotion promotion =
        op == nullptr ? Promotion::kNone : op->promotion.value_or(Promotion::kNone);
    if (promotion == Promotion::kNone) return;
    std::vector<const TensorSpec*> tensors;
    for (const Argument& argument : node.args()) {
      if (argument.node() != nullptr && argument.node()->tensor() != nullptr) {
        tensors.push_back(argument.node()->tensor());
      }
    }
    if (tensors.size() < 2) return;
    ScalarType dtype = result_type(tensors);
    if (promotion == Promotion::kIntToFloat && !is_floating(dtype) && !is_complex(dtype)) {
      dtype = ScalarType::kFloat;
    }
    for (size_t i = 0; i < node.args().size(); ++i) {
      Node* operand = node.args()[i].node();
      if (operand == nullptr || operand->tensor() == nullptr || operand->tensor()->dtype == dtype) {
        continue;
      }
      TensorSpec spec = *operand->tensor();
      spec.dtype = dtype;
      node.set_arg(i, insert_like(node, Target::of("aten._to_copy.default"), {operand},
                                  {{"dtype", dtype}}, std::move(spec)));
    }
  });
}

}  // namespace vitrine::aot
