// Chooses quantization parameters for each token, or quantizes the floats of each token to int8 or
// uint8. A token is a row along the last dimension.
#include <atomic>
#include <cmath>

#include "kernels/optimized/simd/lines.h"
#include "kernels/optimized/simd/quantize.h"
#include "kernels/optimized/take_over.h"
#include "kernels/quantized/affine.h"
#include "kernels/quantized/token_parameters.h"
#include "kernels/util/checks.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

using quantized::AffineParameters;
using quantized::ChannelShape;

template <class Run>
void for_each_token(KernelContext& context, const ChannelShape& shape, Run&& run) {
  parallel_ranges(context, shape.channels, 1, 5 * shape.inner, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) run(row);
  });
}

bool choose_qparams_per_token_asymmetric_out(KernelContext& context, const Tensor& input,
                                             ScalarType dtype, Tensor& scale_out,
                                             Tensor& zero_point_out) {
  if (input.dtype() != ScalarType::kFloat || input.rank() == 0 || input.numel() == 0) {
    return false;
  }
  if (!quantized::check_token_parameters(context, input, dtype, scale_out, zero_point_out)) {
    return true;  // the context has failed
  }
  const ChannelShape shape = quantized::per_token(input);
  std::atomic<bool> has_nan{false};
  for_each_token(context, shape, [&](int64_t row) {
    const float* const values = input.unchecked_data<float>() + row * shape.inner;
    const float low = simd::smallest(values, shape.inner);
    const float high = simd::largest(values, shape.inner);
    if (std::isnan(low) || std::isnan(high)) has_nan.store(true, std::memory_order_relaxed);
    const auto chosen = quantized::choose_token_parameters(low, high);
    scale_out.unchecked_mutable_data<double>()[row] = chosen.scale;
    zero_point_out.unchecked_mutable_data<int64_t>()[row] = chosen.zero_point;
  });
  return !has_nan;  // the portable kernel defines the results for NaN
}

bool quantize_per_token_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                            const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                            ScalarType dtype, Tensor& out) {
  const bool is_signed = dtype == ScalarType::kChar;
  if (input.dtype() != ScalarType::kFloat || input.numel() == 0 ||
      scales.dtype() != ScalarType::kDouble || (dtype != ScalarType::kByte && !is_signed) ||
      out.dtype() != dtype || quant_min < (is_signed ? INT8_MIN : 0) ||
      quant_max > (is_signed ? INT8_MAX : UINT8_MAX) || quant_min > quant_max ||
      !input.is_contiguous() || !out.is_contiguous() || input.rank() != out.rank()) {
    return false;
  }
  const ChannelShape shape = quantized::per_token(input);
  if (!context.resize(out, input.sizes())) return true;
  const auto parameters =
      AffineParameters::make(context, scales, &zero_points, shape.channels, out);
  if (!parameters) return true;
  for_each_token(context, shape, [&](int64_t row) {
    simd::quantize_shifted(
        input.unchecked_data<float>() + row * shape.inner,
        {1.0 / parameters->scale(row), static_cast<double>(parameters->zero_point(row)),
         static_cast<int32_t>(quant_min), static_cast<int32_t>(quant_max)},
        out.unchecked_mutable_data<uint8_t>() + row * shape.inner, shape.inner);
  });
  return true;
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(choose_qparams_per_token_asymmetric_out,
                         "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
                         choose_qparams_per_token_asymmetric_out, quantized)
VITRINE_OPTIMIZED_KERNEL(quantize_per_token_out, "quantized_decomposed::quantize_per_token.out",
                         quantize_per_token_out, quantized)
