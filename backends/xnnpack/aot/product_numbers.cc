// Checks the scales, bounds and biases of int8 products, which XNNPACK computes in 32 bits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/products.h"
#include "backends/xnnpack/aot/weights.h"

namespace vitrine::aot::xnnpack {
namespace {

int64_t rounded_bound(float bound, const QuantParams& result) {
  const float steps =
      bound / static_cast<float>(result.scale) + static_cast<float>(result.zero_point);
  return std::lrint(std::clamp(steps, -128.0f, 127.0f));
}

std::optional<Rejection> check_bounds(const Bounds& bounds, const QuantParams& result) {
  if (rounded_bound(bounds.min, result) < rounded_bound(bounds.max, result)) return {};
  return Rejection{"its activation allows only one int8 value", "leave out the activation"};
}

// The bias plus the largest possible sum of products must fit in 32 bits. `steps` holds the scale
// of the bias, or one scale per channel.
std::optional<Rejection> check_bias_room(const std::vector<float>& biases, int64_t weights,
                                         const std::vector<float>& steps) {
  if (steps.size() != 1 && steps.size() != biases.size()) {
    return Rejection{"it has different numbers of scales and biases", ""};
  }
  constexpr double kMaxProduct = 255.0 * 128.0;
  const double terms = static_cast<double>(weights) / static_cast<double>(biases.size());
  const double room = std::exp2(31.0) - terms * kMaxProduct;
  for (size_t i = 0; i < biases.size(); ++i) {
    const float step = steps.size() == 1 ? steps.front() : steps[i];
    if (std::isnormal(step) && std::abs(double{biases[i]} / double{step}) < room) continue;
    return Rejection{fmt::format("its bias {} is too large for its scale {}: the 32-bit sum of the "
                                 "products and the bias could overflow",
                                 biases[i], step),
                     "quantize the weight with larger scales"};
  }
  return {};
}

}  // namespace

std::vector<float> weight_scales(const Parameters& parameters, const QuantParams& params) {
  if (params.scales == nullptr) return {static_cast<float>(params.scale)};
  const TensorData* data = parameters.find(params.scales);
  return data == nullptr ? std::vector<float>() : floats_of(*data).value_or(std::vector<float>());
}

std::optional<Rejection> check_numbers(const Candidate& candidate, const Product& product,
                                       const Node* activation, const Node& quantize) {
  const QuantParams result = quant_params(quantize);
  const auto input_scale = static_cast<float>(quant_params(*product.dequantized).scale);
  std::vector<float> steps =
      weight_scales(candidate.parameters, quant_params(*product.weight_dequantize()));
  for (float& step : steps) step *= input_scale;
  const auto result_scale = static_cast<float>(result.scale);
  if (std::ranges::any_of(steps, [&](float step) { return !(step / result_scale < 256.0f); })) {
    return Rejection{"the scales of input and weight are too large for the result's scale",
                     "quantize the result with a larger scale"};
  }
  if (activation != nullptr) {
    if (auto rejection = check_bounds(*activation_bounds(*activation), result)) return rejection;
  }
  const TensorData* bias = candidate.parameters.find(product.bias);
  if (bias == nullptr) return {};
  const std::optional<std::vector<float>> biases = floats_of(*bias);
  if (!biases.has_value() || biases->empty()) return Rejection{"its bias does not hold floats", ""};
  return check_bias_room(*biases, candidate.parameters.find(product.weight_source())->numel(),
                         steps);
}

}  // namespace vitrine::aot::xnnpack
