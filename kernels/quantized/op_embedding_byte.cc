#include "kernels/quantized/embedding.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

void embedding_byte_dtype_out(KernelContext& context, const Tensor& weight,
                              const Tensor& weight_scales, const Tensor* weight_zero_points,
                              int64_t weight_quant_min, int64_t weight_quant_max,
                              const Tensor& indices, std::optional<ScalarType> dtype, Tensor& out) {
  look_up(context, weight, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max,
          indices, dtype, Packing::kByte, out);
}

void embedding_byte_out(KernelContext& context, const Tensor& weight, const Tensor& weight_scales,
                        const Tensor* weight_zero_points, int64_t weight_quant_min,
                        int64_t weight_quant_max, const Tensor& indices, Tensor& out) {
  embedding_byte_dtype_out(context, weight, weight_scales, weight_zero_points, weight_quant_min,
                           weight_quant_max, indices, std::nullopt, out);
}

}  // namespace

VITRINE_KERNEL(embedding_byte_dtype_out, "quantized_decomposed::embedding_byte.dtype_out",
               embedding_byte_dtype_out);
VITRINE_KERNEL(embedding_byte_out, "quantized_decomposed::embedding_byte.out", embedding_byte_out);

}  // namespace vitrine::quantized
