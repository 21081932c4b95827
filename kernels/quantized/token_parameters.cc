#include "kernels/quantized/token_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/util/checks.h"
#include "kernels/util/convert.h"

namespace vitrine::quantized {

TokenParameters choose_token_parameters(float low, float high) {
  constexpr float kLowest = -128;
  constexpr float kHighest = 127;
  low = std::min(low, 0.0F);
  high = std::max(high, 0.0F);
  const float scale =
      std::max((high - low) / (kHighest - kLowest), std::numeric_limits<float>::epsilon());
  const float from_low = low / scale;
  const float from_high = high / scale;
  const float zero_point =
      (kLowest + from_low) + (kHighest + from_high) > 0 ? kLowest - from_low : kHighest - from_high;
  return {static_cast<double>(scale),
          convert<int64_t>(std::nearbyint(std::clamp(zero_point, kLowest, kHighest)))};
}

bool check_token_parameters(KernelContext& context, const Tensor& input, ScalarType dtype,
                            Tensor& scale_out, Tensor& zero_point_out) {
  if (dtype != ScalarType::kChar || input.rank() == 0) {
    context.fail(
        ErrorCode::kInvalidArgument,
        "expected dtype i8 and an input with at least one dimension, found %s and rank %zu",
        scalar_type_name(dtype), input.rank());
    return false;
  }
  std::array<int32_t, kMaxRank> sizes;
  std::ranges::copy(input.sizes(), sizes.begin());
  sizes[input.rank() - 1] = 1;
  const auto outs = std::span<const int32_t>(sizes).first(input.rank());
  return check_dtype_in<FloatHBF16Types>(context, input) &&
         check_contiguous(context, input, "input") &&
         check_dtype(context, scale_out, ScalarType::kDouble, "scale_out") &&
         check_dtype(context, zero_point_out, ScalarType::kLong, "zero_point_out") &&
         context.resize(scale_out, outs) && context.resize(zero_point_out, outs) &&
         check_contiguous(context, scale_out, "scale_out") &&
         check_contiguous(context, zero_point_out, "zero_point_out") &&
         check_data(context, {&input, &scale_out, &zero_point_out});
}

}  // namespace vitrine::quantized
