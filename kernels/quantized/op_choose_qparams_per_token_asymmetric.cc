#include <algorithm>

#include "kernels/quantized/affine.h"
#include "kernels/quantized/token_parameters.h"
#include "kernels/util/convert.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

void choose_qparams_per_token_asymmetric_out(KernelContext& context, const Tensor& input,
                                             ScalarType dtype, Tensor& scale_out,
                                             Tensor& zero_point_out) {
  if (!check_token_parameters(context, input, dtype, scale_out, zero_point_out)) return;
  const ChannelShape shape = by_token(input);
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

VITRINE_KERNEL(choose_qparams_per_token_asymmetric_out,
               "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
               choose_qparams_per_token_asymmetric_out);

}  // namespace vitrine::quantized
