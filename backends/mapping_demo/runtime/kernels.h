// The demo's operators, in plain loops. All are f32 and row-major; sizes are checked before.
#pragma once

#include <span>

#include "backends/mapping_demo/runtime/payload.h"

namespace vitrine::mapping_demo {

// [n, in, h, w] -> [n, out, h', w'], none of it below 0.
void conv_relu(const Convolution& convolution, const Sizes& input_sizes, const float* input,
               const Sizes& result_sizes, float* result);
void sin(std::span<const float> input, float* result);
void cos(std::span<const float> input, float* result);
void div(std::span<const float> dividend, const float* divisor, float* result);

}  // namespace vitrine::mapping_demo
