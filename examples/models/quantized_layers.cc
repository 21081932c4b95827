#include "examples/models/quantized_layers.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "examples/models/seeded_weights.h"

namespace vitrine::examples {
namespace {

using aot::ModelBuilder;
using aot::Node;

constexpr const char* kDequantize = "quantized_decomposed.dequantize_per_tensor.default";

aot::TensorData repeated(float value, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof(float));
  for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    std::memcpy(bytes.data() + i, &value, sizeof(float));
  }
  return aot::make_tensor_data(ScalarType::kFloat, {count}, std::move(bytes));
}

// Adds an int8 weight, whose first dim is the output channel, and dequantizes it.
Node* weight(ModelBuilder& build, std::vector<int64_t> sizes, double mean_square) {
  const int64_t out = sizes.at(0);
  const int64_t row =
      std::accumulate(sizes.begin() + 1, sizes.end(), int64_t{1}, std::multiplies<>());
  // The integers are uniform in [-127, 127], so their mean square is 127^2 / 3.
  const float scale =
      std::sqrt(3.0f / (static_cast<float>(row) * static_cast<float>(mean_square))) / 127;
  const auto zeros = static_cast<size_t>(out) * sizeof(int64_t);
  Node* integers = build.buffer(
      "weight", aot::seeded_bytes(build.qualified("weight"), build.seed(), std::move(sizes)));
  Node* scales = build.buffer("scales", repeated(scale, out));
  Node* zero_points =
      build.buffer("zero_points",
                   aot::make_tensor_data(ScalarType::kLong, {out}, std::vector<std::byte>(zeros)));
  return build.call("quantized_decomposed.dequantize_per_channel.default",
                    {integers, scales, zero_points, 0, -127, 127, ScalarType::kChar});
}

Node* bias(ModelBuilder& build, int64_t out) {
  return build.parameter("bias",
                         aot::seeded_weights(build.qualified("bias"), build.seed(), {out}, 0.1f));
}

}  // namespace

Node* requantized(ModelBuilder& build, Node* x, double scale) {
  x = build.call("quantized_decomposed.quantize_per_tensor.default",
                 {x, scale, 0, -128, 127, ScalarType::kChar});
  return build.call(kDequantize, {x, scale, 0, -128, 127, ScalarType::kChar});
}

Node* dequantized_again(ModelBuilder& build, const Node* dequantized) {
  return build.call(kDequantize, dequantized->args());
}

Node* quantized_linear(ModelBuilder& build, std::string_view name, Node* x, int64_t out_features,
                       double mean_square) {
  const auto module = build.module(name, "torch.nn.modules.linear.Linear");
  const int64_t in = x->tensor()->sizes.back().value();
  Node* weights = weight(build, {out_features, in}, mean_square);
  return build.call("aten.linear.default", {x, weights, bias(build, out_features)});
}

Node* quantized_conv2d(ModelBuilder& build, std::string_view name, Node* x, int64_t out_channels,
                       const aot::nn::ConvOptions& options, double mean_square) {
  const auto module = build.module(name, "torch.nn.modules.conv.Conv2d");
  const int64_t in = x->tensor()->sizes.at(1).value() / options.groups;
  const auto pair = [](int64_t value) { return std::vector<int64_t>{value, value}; };
  Node* weights = weight(build, {out_channels, in, options.kernel, options.kernel}, mean_square);
  return build.call("aten.conv2d.default",
                    {x, weights, bias(build, out_channels), pair(options.stride),
                     pair(options.padding), pair(1), options.groups});
}

}  // namespace vitrine::examples
