#include "backends/xnnpack/aot/products.h"

#include <algorithm>
#include <array>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/quantization.h"

namespace vitrine::aot::xnnpack {
namespace {

struct Operands {
  std::string_view op;
  std::string_view activation, weight, bias;
  bool has_transposed_weight = false;
};
constexpr std::array kProducts = {
    Operands{"convolution.default", "input", "weight", "bias"},
    Operands{"linear.default", "input", "weight", "bias"},
    Operands{"addmm.default", "mat1", "mat2", "self", true},
    Operands{"mm.default", "self", "mat2", "", true},
};

bool is_transposition(const Node& node) {
  if (calls_op(node, "t_copy.default") || calls_op(node, "t.default")) return true;
  const bool permutes = calls_op(node, "permute_copy.default") || calls_op(node, "permute.default");
  return permutes && node.tensor() != nullptr && node.tensor()->rank() == 2 &&
         Call(node).integers("dims", 2) == std::vector<int64_t>{1, 0};
}

// The padding must add zeros, only around spatial dims, and have no other user.
bool can_absorb(const Product& product, const Node& padding) {
  if (!calls_op(padding, "constant_pad_nd.default") || padding.users().size() != 1 ||
      !calls_op(*product.node, "convolution.default") ||
      Call(*product.node).boolean("transposed") || Call(padding).real("value") != 0.0) {
    return false;
  }
  const size_t rank = spec_of(*product.weight).rank();
  const std::vector<int64_t> amounts = Call(padding).integers("pad");
  for (size_t i = 0; i < amounts.size(); ++i) {
    const bool is_spatial = i / 2 + 2 < rank;
    if (amounts[i] < 0 || (amounts[i] != 0 && !is_spatial)) return false;
  }
  return true;
}

bool is_quantized(const Node* weight) {
  return weight != nullptr &&
         (is_dequantize(*weight) || (is_transposition(*weight) && operand(*weight, 0) != nullptr &&
                                     is_dequantize(required(*weight, 0))));
}

}  // namespace

Node* Product::weight_dequantize() const {
  Node* source = transposition != nullptr ? operand(*transposition, 0) : weight;
  return source != nullptr && is_dequantize(*source) ? source : nullptr;
}

Node* Product::weight_source() const {
  Node* source = transposition != nullptr ? operand(*transposition, 0) : weight;
  if (source != nullptr && is_dequantize(*source)) source = operand(*source, 0);
  return source;
}

std::optional<Product> product_of(Node& node) {
  if (!node.is_call()) return {};
  const auto row = std::ranges::find(kProducts, op_name(node), &Operands::op);
  if (row == kProducts.end()) return {};
  Product product;
  product.node = &node;
  product.activation = operand(node, row->activation);
  product.weight = operand(node, row->weight);
  product.bias = operand(node, row->bias);
  if (product.activation == nullptr || product.weight == nullptr) return {};
  if (row->has_transposed_weight && is_transposition(*product.weight)) {
    product.transposition = product.weight;
  }
  Node* activation = product.activation;
  if (can_absorb(product, *activation) && operand(*activation, 0) != nullptr &&
      is_dequantize(required(*activation, 0))) {
    product.padding = activation;
    activation = operand(*activation, 0);
  }
  if (is_quantized(product.weight)) {
    if (is_dequantize(*activation)) product.dequantized = activation;
    const bool dynamic = product.dequantized != nullptr && is_dynamic(*product.dequantized);
    product.precision = dynamic ? kDynamic : kStatic;
  }
  if (product.dequantized == nullptr) product.padding = nullptr;
  return product;
}

bool can_fold_batch_norm(const Parameters& parameters, const Node& norm) {
  Node* source = operand(norm, 0);
  if (source == nullptr || source->users().size() != 1) return false;
  if (!calls_op(*source, "convolution.default") && !calls_op(*source, "linear.default")) {
    return false;
  }
  const std::optional<Product> product = product_of(*source);
  if (!product || !parameters.has(product->weight)) return false;
  if (product->bias != nullptr && !parameters.has(product->bias)) return false;
  // The channels are dim 1 of a batch norm's input. The features of a linear call are the last dim
  // of its result. These dims are the same only for rank 2.
  if (calls_op(*source, "linear.default")) return spec_of(*source).rank() == 2;
  // XNNPACK supports only 1-d and 2-d convolutions, whose weights have rank 3 or 4.
  const size_t rank = spec_of(*product->weight).rank();
  return rank == 3 || rank == 4;
}

}  // namespace vitrine::aot::xnnpack
