#include <algorithm>
#include <array>
#include <cmath>

#include "aot/optimise/rewriting.h"
#include "aot/optimise/rules.h"
#include "aot/shapes/infer.h"

namespace vitrine::aot {
namespace {

// A product of scales beyond these could overflow, or vanish, where each side by itself does not.
constexpr double kLeastFactor = 1.0 / 65536;
constexpr double kMostFactor = 65536;

// They keep the numbers, so that a factor may come before or after.
constexpr std::array<std::string_view, 5> kMoves = {
    "aten.view_copy.default", "aten.expand_copy.default", "aten.permute_copy.default",
    "dim_order_ops._clone_dim_order.default", "aten.unsqueeze_copy.default"};

// The multiplication by a number behind which there are only moves, and no other users.
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
    // The smaller one stays.
    const TensorSpec& of_left = *left->tensor();
    const TensorSpec& of_right = *right->tensor();
    if (of_left.is_static() && of_right.is_static() &&
        product_of(of_left.sizes).value() > product_of(of_right.sizes).value()) {
      std::swap(left, right);
    }
    Node* source = tensor_arg(*right, 0);
    if (source == nullptr || !are_alike(*source->tensor(), *right->tensor())) return;
    const double factor = *left->arg(1)->get<double>() * *right->arg(1)->get<double>();
    if (!(std::abs(factor) >= kLeastFactor && std::abs(factor) <= kMostFactor)) return;
    changes.remove("scale merged into that of the other side of a product", *right);
    left->set_arg(1, factor);
    replace_node(program, *right, *source);
  });
}

}  // namespace vitrine::aot
