// Finds the operands of convolutions and matrix products, and their quantization.
#pragma once

#include <optional>

#include "backends/xnnpack/aot/quantization.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {

struct Product {
  Node* node = nullptr;
  Node* activation = nullptr;  // the argument of the call
  Node* weight = nullptr;  // the argument: the parameter or its dequantization, may be transposed
  Node* bias = nullptr;    // null if the call has no bias
  Precision precision = kFloat;
  Node* transposition = nullptr;  // the transposition of an addmm's or mm's weight
  Node* padding = nullptr;        // a zero padding between the dequantized activation and the call
  Node* dequantized = nullptr;    // the activation's dequantize call; null if it is float

  // Returns the call that dequantizes the weight; null if the weight is float.
  Node* weight_dequantize() const;
  // Returns the placeholder of the weight; null if the weight is computed.
  Node* weight_source() const;
};

// Returns the operands of a product; empty if the node is not a call to convolution, linear, addmm
// or mm.
std::optional<Product> product_of(Node& node);

// Checks the scales of a statically quantized product, the bounds of its fused activation, and its
// bias. `activation` is the fused activation between the product and `quantize`, or null.
std::optional<Rejection> check_numbers(const Candidate& candidate, const Product& product,
                                       const Node* activation, const Node& quantize);
// Returns the scales of a weight that is quantized with `params`; empty if the scales are not
// constant floats.
std::vector<float> weight_scales(const Parameters& parameters, const QuantParams& params);

// Returns true if the batch norm can be folded into the weights of the convolution or linear call
// that computes its input.
bool can_fold_batch_norm(const Parameters& parameters, const Node& norm);

}  // namespace vitrine::aot::xnnpack
