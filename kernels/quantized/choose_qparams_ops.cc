#include <algorithm>
#include <cmath>

#include "kernels/quantized/affine.h"
#include "kernels/quantized/token_parameters.h"
#include "kernels/util/checks.h"
#include "kernels/util/convert.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

// The parameters of torch.ao's determine_qparams for an affine scheme. Arithmetic is in float.
void choose_qparams_Tensor_out(KernelContext& context, const Tensor& input, int64_t quant_min,
                               int64_t quant_max, double eps, ScalarType dtype, Tensor& scale_out,
                               Tensor& zero_point_out) {
  if (!check_dtype(context, input, ScalarType::kFloat, "input") ||
      !check_quantized(context, dtype, quant_min, quant_max) ||
      !check_dtype(context, scale_out, ScalarType::kDouble, "scale_out") ||
      !check_dtype(context, zero_point_out, ScalarType::kLong, "zero_point_out")) {
    return;
  }
  if (scale_out.numel() != 1 || zero_point_out.numel() != 1 || input.numel() == 0 ||
      quant_min >= quant_max) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "input must have elements, quant_min must be below quant_max, and each "
                        "output must have 1 element");
  }
  if (!check_data(context, {&input, &scale_out, &zero_point_out})) return;
  const float* values = input.unchecked_data<float>();
  const auto [low, high] = std::minmax_element(values, values + input.numel());
  const float lowest = std::min(*low, 0.0f);
  const float highest = std::max(*high, 0.0f);
  const float scale = std::max((highest - lowest) / static_cast<float>(quant_max - quant_min),
                               static_cast<float>(eps));
  *scale_out.unchecked_mutable_data<double>() = static_cast<double>(scale);
  *zero_point_out.unchecked_mutable_data<int64_t>() = std::clamp(
      quant_min - convert<int32_t>(std::nearbyint(lowest / scale)), quant_min, quant_max);
}

void choose_qparams_per_token_asymmetric_out(KernelContext& context, const Tensor& input,
                                             ScalarType dtype, Tensor& scale_out,
                                             Tensor& zero_point_out) {
  if (!check_token_parameters(context, input, dtype, scale_out, zero_point_out)) return;
  const ChannelShape shape = per_token(input);
  dispatch<FloatHBF16Types>(context, input.dtype(), [&]<class T>() {
    for (int64_t row = 0; row < shape.channels; ++row) {
      float low = 0;
      float high = 0;
      for (int64_t i = 0; i < shape.inner; ++i) {
        const float value = convert<float>(input.unchecked_data<T>()[row * shape.inner + i]);
        low = std::min(low, value);
        high = std::max(high, value);
      }
      const TokenParameters chosen = choose_token_parameters(low, high);
      scale_out.unchecked_mutable_data<double>()[row] = chosen.scale;
      zero_point_out.unchecked_mutable_data<int64_t>()[row] = chosen.zero_point;
    }
  });
}

}  // namespace

VITRINE_KERNEL(choose_qparams_Tensor_out, "quantized_decomposed::choose_qparams.Tensor_out",
               choose_qparams_Tensor_out);
VITRINE_KERNEL(choose_qparams_per_token_asymmetric_out,
               "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
               choose_qparams_per_token_asymmetric_out);

}  // namespace vitrine::quantized
