#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/products.h"

namespace vitrine::aot::xnnpack {

void restore_linear(Preprocessing& p) {
  each_call(p.graph(), [&](Node& node) {
    const std::optional<Product> product = product_of(node);
    if (!product || product->transposition == nullptr) return;
    Node* weight = operand(*product->transposition, 0);
    ArgumentList args = {product->activation, weight};
    if (product->bias != nullptr) args.emplace_back(product->bias);
    p.absorb(node, *product->transposition);
    node.set_target(Target::of("aten.linear.default", Dialect::kEdge));
    node.set_kwargs({});
    node.set_args(std::move(args));
  });
}

}  // namespace vitrine::aot::xnnpack
