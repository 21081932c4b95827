#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/quantized/affine.h"
#include "kernels/util/checks.h"
#include "kernels/util/convert.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

// One pair of parameters for each row of the last dimension, for eight bits.
void choose_qparams_per_token_asymmetric_out(KernelContext& context, const Tensor& input,
                                             ScalarType dtype, Tensor& scale_out,
                                             Tensor& zero_point_out) {
  constexpr float kLowest = -128;
  constexpr float kHighest = 127;
  if (dtype != ScalarType::kChar || input.rank() == 0) {
    context.fail(ErrorCode::kInvalidArgument, "rows of the last dimension to i8 are needed, not %s",
                 scalar_type_name(dtype));
    return;
  }
  const ChannelShape shape = by_token(input);
  std::array<int32_t, kMaxRank> sizes;
  std::ranges::copy(input.sizes(), sizes.begin());
  sizes[input.rank() - 1] = 1;
  const auto outs = std::span<const int32_t>(sizes).first(input.rank());
  if (!check_dtype_in<FloatHBF16Types>(context, input) ||
      !check_contiguous(context, input, "input") ||
      !check_dtype(context, scale_out, ScalarType::kDouble, "scale_out") ||
      !check_dtype(context, zero_point_out, ScalarType::kLong, "zero_point_out") ||
      !context.resize(scale_out, outs) || !context.resize(zero_point_out, outs) ||
      !check_contiguous(context, scale_out, "scale_out") ||
      !check_contiguous(context, zero_point_out, "zero_point_out") ||
      !check_data(context, {&input, &scale_out, &zero_point_out})) {
    return;
  }
  dispatch<FloatHBF16Types>(context, input.dtype(), [&]<class T>() {
    for (int64_t row = 0; row < shape.channels; ++row) {
      float low = 0;
      float high = 0;
      for (int64_t i = 0; i < shape.inner; ++i) {
        const float value = convert<float>(input.data<T>()[row * shape.inner + i]);
        low = std::min(low, value);
        high = std::max(high, value);
      }
      const float scale =
          std::max((high - low) / (kHighest - kLowest), std::numeric_limits<float>::epsilon());
      const float from_low = low / scale;
      const float from_high = high / scale;
      const float zero_point = (kLowest + from_low) + (kHighest + from_high) > 0
                                   ? kLowest - from_low
                                   : kHighest - from_high;
      scale_out.mutable_data<double>()[row] = static_cast<double>(scale);
      zero_point_out.mutable_data<int64_t>()[row] =
          convert<int64_t>(std::nearbyint(std::clamp(zero_point, kLowest, kHighest)));
    }
  });
}

}  // namespace

VITRINE_KERNEL(choose_qparams_per_token_asymmetric_out,
               "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
               choose_qparams_per_token_asymmetric_out);

}  // namespace vitrine::quantized
