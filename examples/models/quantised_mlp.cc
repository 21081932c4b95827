#include "examples/models/quantised_mlp.h"

#include <limits>

#include "examples/models/quantised_layers.h"

namespace vitrine::examples {
namespace {

using aot::ModelBuilder;
using aot::Node;

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

}  // namespace

aot::ExportedProgram quantised_mlp(const QuantisedMlpOptions& options) {
  ModelBuilder build("vitrine.examples.QuantisedMlp", options.seed);
  Node* x = build.input("x", ScalarType::kFloat, {options.batch, options.inputs});
  const auto quantised = [&](Node* y) {
    return options.dynamic ? quantised_by_range(build, y) : requantised(build, y);
  };
  x = build.call("aten.relu.default",
                 {quantised_linear(build, "up", quantised(x), options.hidden)});
  x = quantised_linear(build, "down", quantised(x), options.outputs);
  return build.finish({options.dynamic ? x : requantised(build, x)});
}

}  // namespace vitrine::examples
