// Parses --quantize and --keep, and quantizes weights accordingly.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/passes/quantize.h"
#include "aot/quantize/half_precision.h"
#include "aot/quantize/int8.h"

namespace vitrine::aot {

struct Quantization {
  QuantizeOptions weights;
  std::optional<Int8Options> int8 = std::nullopt;
  HalfOptions half = {};
};

// Parses a list of schemes, each at most once: "8da4w:32,embedding:4:32". The schemes are:
//   8da4w[:GROUP][:RULE]            linear layers; the default group is 128
//   embedding:BITS[:GROUP][:RULE]   2, 4 or 8 bits; the default group is 0
//   int8[:WEIGHTS]                  static int8; needs calibration data
//   int8_dynamic[:WEIGHTS]          int8; activation scales are chosen at run time
//   f16, bf16                       all calls that would otherwise compute in f32
//   float                           nothing, except parts for which add_rule() sets a scheme;
//                                   cannot be combined with other schemes
// GROUP is the number of elements that share a scale, or 0 for the full row. RULE is hqq (the
// default) or affine. WEIGHTS is per_channel (the default) or per_tensor. Throws AotError.
Quantization parse_quantization(std::string_view text);

// Adds a rule PART=SCHEME: "classifier.*=float", "head=int8_dynamic", "layers.0.*=8da4w:32",
// "tok=embedding:8" or "head=f16". Throws AotError if the rule is invalid, or if its scheme is int8
// or int8_dynamic but `to.int8` is empty.
void add_rule(std::string_view text, Quantization& to);

// Quantizes the weights of all methods. Returns the linear layers that were not quantized, with the
// reasons. Throws AotError if a scheme or rule applies to no layer. Throws the errors of
// quantize().
std::vector<std::string> apply(const QuantizeOptions& options, Methods& methods);

// Throws AotError if a scheme or rule for f16 or bf16 did not apply to any call.
void require_converted(const HalfOptions& options, const HalfResult& all);

}  // namespace vitrine::aot
