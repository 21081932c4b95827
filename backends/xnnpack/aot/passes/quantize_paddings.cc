#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/products.h"
#include "backends/xnnpack/aot/quantization.h"

namespace vitrine::aot::xnnpack {

void quantize_paddings(Preprocessing& p) {
  each_call(p.graph(), [&](Node& node) {
    const std::optional<Product> product = product_of(node);
    if (!product || product->padding == nullptr || product->precision != kStatic) return;
    const Node& dequantize = *product->dequantized;
    const TensorSpec float_spec = spec_of(*product->padding);
    TensorSpec int_spec = float_spec;
    int_spec.dtype = spec_of(required(dequantize, 0)).dtype;
    const QuantParams params = quant_params(dequantize);
    // This quantization never clips: the padded tensor contains only dequantized values and 0.
    Node* quantized = p.insert(
        node, "quantized_decomposed.quantize_per_tensor.default",
        {product->padding, params.scale, params.zero_point, -128, 127, params.dtype}, int_spec);
    ArgumentList args = dequantize.args();
    args[0] = quantized;
    Node* padded = p.insert(node, dequantize.target().name(), args, float_spec);
    node.replace_input(product->padding, padded);
  });
}

}  // namespace vitrine::aot::xnnpack
