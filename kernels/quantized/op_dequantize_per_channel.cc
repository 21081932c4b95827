#include "kernels/quantized/affine.h"
#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

void dequantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                                const Tensor* zero_points, int64_t axis, int64_t quant_min,
                                int64_t quant_max, ScalarType dtype,
                                std::optional<ScalarType> out_dtype, Tensor& out) {
  const std::optional<size_t> dim = normalize_dim(context, axis, input.rank());
  if (!dim) return;
  dequantize(context, input, scales, zero_points, along(input, *dim), quant_min, quant_max, dtype,
             out_dtype, out);
}

}  // namespace

VITRINE_KERNEL(dequantize_per_channel_out, "quantized_decomposed::dequantize_per_channel.out",
               dequantize_per_channel_out);

}  // namespace vitrine::quantized
