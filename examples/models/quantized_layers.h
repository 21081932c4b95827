// Builds quantized layers as PyTorch's pt2e flow produces them: int8 weights per channel, int8
// activations per tensor, and f32 between each dequantization and quantization. Weights are seeded.
#pragma once

#include "examples/models/layers.h"

namespace vitrine::examples {

// The quantization scale for activations in [-4, 4).
inline constexpr double kActivationScale = 1.0 / 32;

// Quantizes x to int8 and dequantizes the integers. A backend can compute a layer in int8 if the
// inputs and the results of the layer pass through this function.
aot::Node* requantized(aot::ModelBuilder& build, aot::Node* x, double scale = kActivationScale);
// Adds another dequantize call with the arguments of the call `dequantized`. The pt2e flow produces
// a separate dequantize call for each use of a quantized value.
aot::Node* dequantized_again(aot::ModelBuilder& build, const aot::Node* dequantized);

// quantized_linear() and quantized_conv2d() scale their weights for inputs whose mean square is
// `mean_square`. The results then have a variance of about one.
aot::Node* quantized_linear(aot::ModelBuilder& build, std::string_view name, aot::Node* x,
                            int64_t out_features, double mean_square = 1);
// The input x has the shape [N, C, H, W].
aot::Node* quantized_conv2d(aot::ModelBuilder& build, std::string_view name, aot::Node* x,
                            int64_t out_channels, const aot::nn::ConvOptions& options,
                            double mean_square);

}  // namespace vitrine::examples
