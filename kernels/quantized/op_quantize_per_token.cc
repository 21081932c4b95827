#include "kernels/quantized/affine.h"
#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

void quantize_per_token_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                            const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                            ScalarType dtype, Tensor& out) {
  quantize_tokens(context, input, scales, zero_points, quant_min, quant_max, dtype, out);
}

}  // namespace

VITRINE_KERNEL(quantize_per_token_out, "quantized_decomposed::quantize_per_token.out",
               quantize_per_token_out);

}  // namespace vitrine::quantized
