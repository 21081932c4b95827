// Convolutions and matrix products: which operand is what, and how they are quantised.
#pragma once

#include <optional>

#include "backends/xnnpack/aot/quantisation.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {

struct Product {
  Node* node = nullptr;
  Node* activation = nullptr;  // as the call has it
  Node* weight = nullptr;      // likewise: the parameter or its dequantisation, maybe transposed
  Node* bias = nullptr;        // null if there is none
  Precision precision = kFloat;
  Node* transposition = nullptr;  // of the weight, of addmm and mm
  Node* padding = nullptr;        // a zero padding between the dequantised activation and the call
  Node* dequantised = nullptr;    // the activation's dequantise call, where it is quantised

  // The call that dequantises the weight; null if it is float.
  Node* weight_dequantise() const;
  // The placeholder behind the weight; null if something computes it.
  Node* weight_source() const;
};

// Empty if the node is none of convolution, linear, addmm, mm.
std::optional<Product> product_of(Node& node);

// Whether XNNPACK can compute with the numbers of a product in int8 with fixed numbers:
// `activation` may stand before the call that quantises its result, or is null.
std::optional<Refusal> check_numbers(const Candidate& candidate, const Product& product,
                                     const Node* activation, const Node& quantise);
// The scales of a quantised weight, of which `params` tells; empty if they are no floats.
std::vector<float> weight_scales(const Parameters& parameters, const QuantParams& params);

// The one batch norm behind a convolution or linear call whose weights can take it up, or the other
// way round: whether `norm` can be folded into what makes its input.
bool can_fold_batch_norm(const Parameters& parameters, const Node& norm);

}  // namespace vitrine::aot::xnnpack
