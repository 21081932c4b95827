#include "kernels/quantized/affine.h"
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

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

}  // namespace

VITRINE_KERNEL(dequantize_per_tensor_Tensor_out,
               "quantized_decomposed::dequantize_per_tensor.Tensor_out",
               dequantize_per_tensor_Tensor_out);
VITRINE_KERNEL(dequantize_per_tensor_out, "quantized_decomposed::dequantize_per_tensor.out",
               dequantize_per_tensor_out);

}  // namespace vitrine::quantized
