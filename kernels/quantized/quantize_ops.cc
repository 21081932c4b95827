// Numbers to quantised ones and back.
#include "kernels/quantized/affine.h"
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

void quantize_per_tensor_Tensor_out(KernelContext& context, const Tensor& input,
                                    const Tensor& scale, const Tensor& zero_point,
                                    int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                    Tensor& out) {
  quantize(context, input, scale, zero_point, whole(input), quant_min, quant_max, dtype, out);
}

void quantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale,
                             int64_t zero_point, int64_t quant_min, int64_t quant_max,
                             ScalarType dtype, Tensor& out) {
  quantize_per_tensor_Tensor_out(context, input, ScalarElement(scale).tensor(),
                                 ScalarElement(zero_point).tensor(), quant_min, quant_max, dtype,
                                 out);
}

void quantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                              const Tensor& zero_points, int64_t axis, int64_t quant_min,
                              int64_t quant_max, ScalarType dtype, Tensor& out) {
  const std::optional<size_t> dim = normalize_dim(context, axis, input.rank());
  if (!dim) return;
  quantize(context, input, scales, zero_points, along(input, *dim), quant_min, quant_max, dtype,
           out);
}

void quantize_per_token_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                            const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                            ScalarType dtype, Tensor& out) {
  quantize_tokens(context, input, scales, zero_points, quant_min, quant_max, dtype, out);
}

void dequantize_per_tensor_Tensor_out(KernelContext& context, const Tensor& input,
                                      const Tensor& scale, const Tensor& zero_point,
                                      int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                      std::optional<ScalarType> out_dtype, Tensor& out) {
  dequantize(context, input, scale, &zero_point, whole(input), quant_min, quant_max, dtype,
             out_dtype, out);
}

void dequantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale,
                               int64_t zero_point, int64_t quant_min, int64_t quant_max,
                               ScalarType dtype, std::optional<ScalarType> out_dtype, Tensor& out) {
  dequantize_per_tensor_Tensor_out(context, input, ScalarElement(scale).tensor(),
                                   ScalarElement(zero_point).tensor(), quant_min, quant_max, dtype,
                                   out_dtype, out);
}

void dequantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                                const Tensor* zero_points, int64_t axis, int64_t quant_min,
                                int64_t quant_max, ScalarType dtype,
                                std::optional<ScalarType> out_dtype, Tensor& out) {
  const std::optional<size_t> dim = normalize_dim(context, axis, input.rank());
  if (!dim) return;
  dequantize(context, input, scales, zero_points, along(input, *dim), quant_min, quant_max, dtype,
             out_dtype, out);
}

void dequantize_per_token_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                              const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                              ScalarType dtype, ScalarType output_dtype, Tensor& out) {
  dequantize(context, input, scales, &zero_points, by_token(input), quant_min, quant_max, dtype,
             output_dtype, out);
}

}  // namespace

VITRINE_KERNEL(quantize_per_tensor_Tensor_out,
               "quantized_decomposed::quantize_per_tensor.Tensor_out",
               quantize_per_tensor_Tensor_out);
VITRINE_KERNEL(quantize_per_tensor_out, "quantized_decomposed::quantize_per_tensor.out",
               quantize_per_tensor_out);
VITRINE_KERNEL(quantize_per_channel_out, "quantized_decomposed::quantize_per_channel.out",
               quantize_per_channel_out);
VITRINE_KERNEL(quantize_per_token_out, "quantized_decomposed::quantize_per_token.out",
               quantize_per_token_out);
VITRINE_KERNEL(dequantize_per_tensor_Tensor_out,
               "quantized_decomposed::dequantize_per_tensor.Tensor_out",
               dequantize_per_tensor_Tensor_out);
VITRINE_KERNEL(dequantize_per_tensor_out, "quantized_decomposed::dequantize_per_tensor.out",
               dequantize_per_tensor_out);
VITRINE_KERNEL(dequantize_per_channel_out, "quantized_decomposed::dequantize_per_channel.out",
               dequantize_per_channel_out);
VITRINE_KERNEL(dequantize_per_token_out, "quantized_decomposed::dequantize_per_token.out",
               dequantize_per_token_out);

}  // namespace vitrine::quantized
