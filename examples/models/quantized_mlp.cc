#include "examples/models/quantized_mlp.h"

#include <limits>

#include "examples/models/quantized_layers.h"

namespace vitrine::examples {
namespace {

using aot::ModelBuilder;
using aot::Node;

Node* quantized_by_range(ModelBuilder& build, Node* x) {
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

}  // namespace

aot::ExportedProgram quantized_mlp(const QuantizedMlpOptions& options) {
  ModelBuilder build("vitrine.examples.QuantizedMlp", options.seed);
  Node* x = build.input("x", ScalarType::kFloat, {options.batch, options.inputs});
  const auto quantized = [&](Node* y) {
    return options.dynamic ? quantized_by_range(build, y) : requantized(build, y);
  };
  x = build.call("aten.relu.default",
                 {quantized_linear(build, "up", quantized(x), options.hidden)});
  x = quantized_linear(build, "down", quantized(x), options.outputs);
  return build.finish({options.dynamic ? x : requantized(build, x)});
}

}  // namespace vitrine::examples
