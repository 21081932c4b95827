// Quantizes weights (--quantize).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/passes/quantize.h"
#include "aot/quantize/int8.h"

namespace vitrine::aot {

struct Quantization {
  QuantizeOptions weights;
  std::optional<Int8Options> int8 = std::nullopt;
};

// Parses a list of schemes, each at most once: "8da4w:32,embedding:4:32".
//   8da4w[:GROUP][:RULE]            linear layers; the default group is 128
//   embedding:BITS[:GROUP][:RULE]   2, 4 or 8 bits; the default group is 0
//   int8[:WEIGHTS]                  static int8; needs calibration data
//   int8_dynamic[:WEIGHTS]          int8 with scales of activations that are chosen at run time
// GROUP is the number of elements that share a scale; 0: the full row. RULE is hqq (the default) or
// affine. WEIGHTS is per_channel (the default) or per_tensor. Throws AotError.
Quantization parse_quantization(std::string_view text);

// Adds a rule such as "classifier.*=float", "head=int8_dynamic" or "aten.add.Tensor=float". Throws
// AotError, also if `to` does not quantize to int8.
void add_int8_rule(std::string_view text, Quantization& to);

// Quantizes the weights of all methods. Returns the linear layers that were not quantized, with the
// reasons. Throws AotError if a scheme applies to no layer, and the AotErrors of quantize().
std::vector<std::string> apply(const QuantizeOptions& options, Methods& methods);

}  // namespace vitrine::aot
