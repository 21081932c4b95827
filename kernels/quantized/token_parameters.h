// Scales and zero points of rows of the last dimension, for eight bits.
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::quantized {

struct TokenParameters {
  double scale;
  int64_t zero_point;
};
// For a row of numbers from `low` to `high` and zero. Arithmetic is in float.
TokenParameters choose_token_parameters(float low, float high);

// What quantized_decomposed::choose_qparams_per_token_asymmetric.out asks of its arguments; resizes
// both outputs to the input's sizes with a last one of 1.
[[nodiscard]] bool check_token_parameters(KernelContext& context, const Tensor& input,
                                          ScalarType dtype, Tensor& scale_out,
                                          Tensor& zero_point_out);

}  // namespace vitrine::quantized
