// Builds quantized layers as PyTorch's pt2e flow produces them: int8 weights per channel, int8
// activations per tensor, and f32 between each dequantization and quantization. Weights are seeded.
#pragma once

#include "examples/models/layers.h"

namespace vitrine::examples {

// The quantization scale for activations in [-4, 4).
inline constexpr double kActivationScale = 1.0 / 32;

// Quantizes x and dequantizes the result. A backend computes the calls between two such pairs in
// int8.
aot::Node* requantized(aot::ModelBuilder& build, aot::Node* x, double scale = kActivationScale);
// Adds another dequantize call of the same integers, because each use of a quantized value has its
// own dequantize call.
aot::Node* dequantized_again(aot::ModelBuilder& build, const aot::Node* dequantized);

// The next two functions scale the weights so that results have a variance of about one if the mean
// square of the input is `mean_square`.
aot::Node* quantized_linear(aot::ModelBuilder& build, std::string_view name, aot::Node* x,
                            int64_t out_features, double mean_square = 1);
// The input x has the shape [N, C, H, W].
aot::Node* quantized_conv2d(aot::ModelBuilder& build, std::string_view name, aot::Node* x,
                            int64_t out_channels, const aot::nn::ConvOptions& options,
                            double mean_square);

}  // namespace vitrine::examples
