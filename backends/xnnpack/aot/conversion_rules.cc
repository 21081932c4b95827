// Quantise and dequantise calls of activations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/quantisation.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {
namespace {

// The call that says how the source of a dequantise call is quantised: XNNPACK keeps that with the
// value. An argument is as its first reader has it.
const Node* authority_on(const Node& source) {
  if (is_quantise(source)) return &source;
  const auto reader =
      std::ranges::find_if(source.users(), [](const Node* user) { return is_dequantise(*user); });
  return reader == source.users().end() ? nullptr : *reader;
}

}  // namespace

std::optional<Refusal> check_range(const Node& quantise) {
  const QuantParams params = quant_params(quantise);
  if (params.quant_min == -128 && params.quant_max == 127) return {};
  return Refusal{fmt::format("it is quantised to {} to {}, and XNNPACK quantises to -128 to 127",
                             params.quant_min, params.quant_max),
                 "quantise activations to -128 to 127"};
}

std::optional<Refusal> check_int8(const Node& conversion) try {
  const QuantParams params = quant_params(conversion);
  if (params.kind != QuantParams::Kind::kPerTensor || params.scales != nullptr ||
      params.dtype != ScalarType::kChar) {
    return Refusal{"it is not quantised to int8 per tensor, with fixed numbers",
                   "quantise activations per tensor"};
  }
  const auto scale = static_cast<float>(params.scale);
  if (!std::isnormal(scale) || scale < 0) {
    return Refusal{fmt::format("its scale {} is not positive and normal", params.scale), ""};
  }
  if (params.zero_point < -128 || params.zero_point > 127) {
    return Refusal{fmt::format("its zero point {} is not of int8", params.zero_point), ""};
  }
  if (is_quantise(conversion)) return check_range(conversion);
  const Node* authority = authority_on(required(conversion, 0));
  if (authority != nullptr && !params.is_same_per_tensor(quant_params(*authority))) {
    return Refusal{"it is read with other numbers than it is quantised with",
                   "dequantise it with the same scale and zero point"};
  }
  return {};
} catch (const AotError& error) {
  return Refusal{error.what(), ""};
}

std::optional<Refusal> check_conversion(const Candidate& candidate) {
  return check_int8(candidate.node);
}

}  // namespace vitrine::aot::xnnpack
