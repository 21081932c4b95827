#include <algorithm>
#include <array>
#include <cmath>

#include "aot/operators/infer.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

// Limits for the product of two factors. Outside these limits, multiplying a tensor by the product
// could overflow or underflow where two separate multiplications do not.
constexpr double kMinFactor = 1.0 / 65536;
constexpr double kMaxFactor = 65536;

// Operators that only move elements, so that a factor may be applied before or after the operator.
constexpr std::array<std::string_view, 5> kMoves = {
    "aten.view_copy.default", "aten.expand_copy.default", "aten.permute_copy.default",
    "dim_order_ops._clone_dim_order.default", "aten.unsqueeze_copy.default"};

// Traces `operand` back through calls in `kMoves` to a call that multiplies an f32 tensor by a
// number. Null if a call on the path is of another kind or has several users.
Node* scale_of(Node* operand) {
  for (Node* node = operand; node != nullptr && node->is_call() && node->users().size() == 1;
       node = tensor_arg(*node, 0)) {
    if (calls(node, "aten.mul.Scalar")) {
      const Argument* factor = node->arg(1);
      const bool is_known = factor != nullptr && factor->get<double>() != nullptr &&
                            std::isfinite(*factor->get<double>());
      return is_known && node->tensor()->dtype == ScalarType::kFloat ? node : nullptr;
    }
    if (std::ranges::count(kMoves, node->target().name()) == 0) return nullptr;
  }
  return nullptr;
}

}  // namespace

void merge_scales(ExportedProgram& program, Changes& changes) {
  for_each_call(*program.graph, [&](Node& node) {
    if (!calls(&node, "aten.bmm.default")) return;
    Node* left = scale_of(tensor_arg(node, 0));
    Node* right = scale_of(tensor_arg(node, 1));
    if (left == nullptr || right == nullptr || left == right) return;
    // Multiplies only one tensor, by the product of the two numbers. Chooses the smaller tensor if
    // both tensors have static sizes.
    const TensorSpec& left_spec = *left->tensor();
    const TensorSpec& right_spec = *right->tensor();
    if (left_spec.is_static() && right_spec.is_static() &&
        product_of(left_spec.sizes).value() > product_of(right_spec.sizes).value()) {
      std::swap(left, right);
    }
    Node* source = tensor_arg(*right, 0);
    if (source == nullptr || !have_same_layout(*source->tensor(), *right->tensor())) return;
    const double factor = *left->arg(1)->get<double>() * *right->arg(1)->get<double>();
    if (!(std::abs(factor) >= kMinFactor && std::abs(factor) <= kMaxFactor)) return;
    changes.remove("scale merged into the scale of the other operand", *right);
    left->set_arg(1, factor);
    replace_node(program, *right, *source);
  });
}

}  // namespace vitrine::aot
