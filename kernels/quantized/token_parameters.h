// Scales and zero points for quantizing rows of the last dimension to int8.
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::quantized {

struct TokenParameters {
  double scale;
  int64_t zero_point;
};
// Parameters for a row of values in [low, high]. The range is extended to include 0. Arithmetic is
// in float.
TokenParameters choose_token_parameters(float low, float high);

// Checks the arguments of quantized_decomposed::choose_qparams_per_token_asymmetric.out. Resizes
// both outputs to the input's sizes, with last size 1.
[[nodiscard]] bool check_token_parameters(KernelContext& context, const Tensor& input,
                                          ScalarType dtype, Tensor& scale_out,
                                          Tensor& zero_point_out);

}  // namespace vitrine::quantized
