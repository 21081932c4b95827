// Layers as PyTorch's pt2e flow leaves them: int8 weights by channel, int8 activations by tensor,
// f32 between each dequantisation and quantisation. Weights are seeded.
#pragma once

#include "aot/builder/layers.h"

namespace vitrine::examples {

// Of activations in [-4, 4).
inline constexpr double kActivationScale = 1.0 / 32;

// Quantises and dequantises. A backend computes the calls between two such pairs in int8.
aot::Node* requantised(aot::ModelBuilder& build, aot::Node* x, double scale = kActivationScale);
// Dequantises the same integers once more: in such graphs each use has a call of its own.
aot::Node* dequantised_again(aot::ModelBuilder& build, const aot::Node* dequantised);

// Both scale their weights so that results have a variance of about one for inputs of this mean
// square.
aot::Node* quantised_linear(aot::ModelBuilder& build, std::string_view name, aot::Node* x,
                            int64_t out_features, double mean_square = 1);
// x is [N, C, H, W].
aot::Node* quantised_conv2d(aot::ModelBuilder& build, std::string_view name, aot::Node* x,
                            int64_t out_channels, const aot::nn::ConvOptions& options,
                            double mean_square);

}  // namespace vitrine::examples
