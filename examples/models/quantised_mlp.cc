#include "examples/models/quantised_mlp.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "aot/builder/layers.h"
#include "aot/builder/seeded_weights.h"

namespace vitrine::examples {
namespace {

using aot::ModelBuilder;
using aot::Node;

constexpr double kActivationScale = 1.0 / 32;  // [-4, 4)

aot::TensorData repeated(float value, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof(float));
  for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    std::memcpy(bytes.data() + i, &value, sizeof(float));
  }
  return aot::make_tensor_data(ScalarType::kFloat, {count}, std::move(bytes));
}

// Quantises and dequantises. A backend computes the calls between two such pairs in int8.
Node* requantised(ModelBuilder& build, Node* x) {
  x = build.call("quantized_decomposed.quantize_per_tensor.default",
                 {x, kActivationScale, 0, -128, 127, ScalarType::kChar});
  return build.call("quantized_decomposed.dequantize_per_tensor.default",
                    {x, kActivationScale, 0, -128, 127, ScalarType::kChar});
}

Node* quantised_by_range(ModelBuilder& build, Node* x) {
  Node* range =
      build.call("quantized_decomposed.choose_qparams.tensor",
                 {x, -128, 127, double{std::numeric_limits<float>::epsilon()}, ScalarType::kChar});
  Node* scale = build.item(range, 0);
  Node* zero_point = build.item(range, 1);
  x = build.call("quantized_decomposed.quantize_per_tensor.tensor",
                 {x, scale, zero_point, -128, 127, ScalarType::kChar});
  return build.call("quantized_decomposed.dequantize_per_tensor.tensor",
                    {x, scale, zero_point, -128, 127, ScalarType::kChar});
}

Node* linear(ModelBuilder& build, const char* name, Node* x, int64_t out) {
  const auto module = build.module(name, "torch.nn.modules.linear.Linear");
  const int64_t in = x->tensor()->sizes.back().value();
  // Values of at most 127, scaled so that results are about as large as the inputs.
  const float scale = std::sqrt(3.0f / static_cast<float>(in)) / 127;
  const auto zeros = static_cast<size_t>(out) * sizeof(int64_t);
  Node* weight =
      build.buffer("weight", aot::seeded_bytes(build.qualified("weight"), build.seed(), {out, in}));
  Node* scales = build.buffer("scales", repeated(scale, out));
  Node* zero_points =
      build.buffer("zero_points",
                   aot::make_tensor_data(ScalarType::kLong, {out}, std::vector<std::byte>(zeros)));
  weight = build.call("quantized_decomposed.dequantize_per_channel.default",
                      {weight, scales, zero_points, 0, -127, 127, ScalarType::kChar});
  Node* bias = build.parameter(
      "bias", aot::seeded_weights(build.qualified("bias"), build.seed(), {out}, 0.1f));
  return build.call("aten.linear.default", {x, weight, bias});
}

}  // namespace

aot::ExportedProgram quantised_mlp(const QuantisedMlpOptions& options) {
  ModelBuilder build("vitrine.examples.QuantisedMlp", options.seed);
  Node* x = build.input("x", ScalarType::kFloat, {options.batch, options.inputs});
  const auto quantised = options.dynamic ? quantised_by_range : requantised;
  x = quantised(build, x);
  x = build.call("aten.relu.default", {linear(build, "up", x, options.hidden)});
  x = linear(build, "down", quantised(build, x), options.outputs);
  return build.finish({options.dynamic ? x : requantised(build, x)});
}

}  // namespace vitrine::examples
