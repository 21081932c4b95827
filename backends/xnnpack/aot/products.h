#pragma once

#include <optional>

#include "backends/xnnpack/aot/quantization.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {

struct Product {
  Node* node = nullptr;
  Node* activation = nullptr;
  Node* weight = nullptr;  // the argument: a parameter, its dequantize call, or its transposition
  Node* bias = nullptr;
  Precision precision = kFloat;
  Node* transposition = nullptr;  // the call that transposes the weight of an addmm or mm
  Node* padding = nullptr;        // a zero padding between the dequantized activation and the
                                  // product
  Node* dequantized = nullptr;    // the activation's dequantize call; null for a float activation

  // Returns the call that dequantizes the weight; null if the weight is float.
  Node* weight_dequantize() const;
  // Returns the placeholder of the weight; null if the weight is computed.
  Node* weight_source() const;
};

// Returns nothing if the node is not a call to convolution, linear, addmm or mm.
std::optional<Product> product_of(Node& node);

// Checks the scales, the activation bounds and the bias of a statically quantized product.
// `activation` is a fused activation before `quantize`, or null.
std::optional<Rejection> check_numbers(const Candidate& candidate, const Product& product,
                                       const Node* activation, const Node& quantize);
// Returns an empty vector if the scales are not constant floats.
std::vector<float> weight_scales(const Parameters& parameters, const QuantParams& params);

// True if `norm` can be folded into the convolution or linear call before it.
bool can_fold_batch_norm(const Parameters& parameters, const Node& norm);

}  // namespace vitrine::aot::xnnpack
