#include "kernels/quantized/embedding.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

void embedding_2bit_dtype_out(KernelContext& context, const Tensor& weight,
                              const Tensor& weight_scales, const Tensor* weight_zero_points,
                              int64_t weight_quant_min, int64_t weight_quant_max,
                              const Tensor& indices, std::optional<ScalarType> dtype, Tensor& out) {
  look_up(context, weight, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max,
          indices, dtype, Packing::kBits2, out);
}

void embedding_2bit_out(KernelContext& context, const Tensor& weight, const Tensor& weight_scales,
                        const Tensor* weight_zero_points, int64_t weight_quant_min,
                        int64_t weight_quant_max, const Tensor& indices, Tensor& out) {
  embedding_2bit_dtype_out(context, weight, weight_scales, weight_zero_points, weight_quant_min,
                           weight_quant_max, indices, std::nullopt, out);
}

}  // namespace

VITRINE_KERNEL(embedding_2bit_dtype_out, "quantized_decomposed::embedding_2bit.dtype_out",
               embedding_2bit_dtype_out);
VITRINE_KERNEL(embedding_2bit_out, "quantized_decomposed::embedding_2bit.out", embedding_2bit_out);

}  // namespace vitrine::quantized
