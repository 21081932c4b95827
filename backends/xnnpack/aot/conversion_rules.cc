#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/quantization.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {
namespace {

// Returns the call that defines the quantization of `source`, or null. The call is `source` itself
// if it quantizes, otherwise the first dequantize call that reads `source`. XNNPACK stores one
// quantization per value, so all dequantize calls of `source` must have the same parameters.
const Node* defining_conversion(const Node& source) {
  if (is_quantize(source)) return &source;
  const auto reader =
      std::ranges::find_if(source.users(), [](const Node* user) { return is_dequantize(*user); });
  return reader == source.users().end() ? nullptr : *reader;
}

}  // namespace

std::optional<Rejection> check_range(const Node& quantize) {
  const QuantParams params = quant_params(quantize);
  if (params.quant_min == -128 && params.quant_max == 127) return {};
  return Rejection{
      fmt::format("its quantized range is {} to {}, but XNNPACK supports only -128 to 127",
                  params.quant_min, params.quant_max),
      "quantize activations to the range -128 to 127"};
}

std::optional<Rejection> check_int8(const Node& conversion) try {
  const QuantParams params = quant_params(conversion);
  if (params.kind != QuantParams::Kind::kPerTensor || params.scales != nullptr ||
      params.dtype != ScalarType::kChar) {
    return Rejection{"it is not statically quantized to int8 per tensor",
                     "quantize activations per tensor"};
  }
  const auto scale = static_cast<float>(params.scale);
  if (!std::isnormal(scale) || scale < 0) {
    return Rejection{fmt::format("its scale {} is not positive and normal", params.scale), ""};
  }
  if (params.zero_point < -128 || params.zero_point > 127) {
    return Rejection{fmt::format("its zero point {} is out of range for int8", params.zero_point),
                     ""};
  }
  if (is_quantize(conversion)) return check_range(conversion);
  const Node* definition = defining_conversion(required(conversion, 0));
  if (definition != nullptr && !params.is_same_per_tensor(quant_params(*definition))) {
    return Rejection{"it is dequantized with different parameters than it was quantized with",
                     "quantize and dequantize with the same scale and zero point"};
  }
  return {};
} catch (const AotError& error) {
  return Rejection{error.what(), ""};
}

std::optional<Rejection> check_conversion(const Candidate& candidate) {
  return check_int8(candidate.node);
}

}  // namespace vitrine::aot::xnnpack
