// Batch norm, layer norm, group norm, softmax and its logarithm.
#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/batch_norm.h"

namespace vitrine::optimized {

namespace {

void scale_and_shift(KernelContext& context, const Tensor& input, const Tensor& scale,
                     const Tensor& shift, Tensor& out) {
  if (input.dtype() != ScalarType::kFloat || scale.dtype() != ScalarType::kFloat ||
      !elementwise(context, {simd::multiply_add()}, ScalarType::kFloat, {input, scale, shift},
                   out)) {
    vitrine::scale_and_shift(context, input, scale, shift, out);
  }
}

void batch_norm_no_training_out(KernelContext& context, const Tensor& input, const Tensor* weight,
                                const Tensor* bias, const Tensor& running_mean,
                                const Tensor& running_var, double /*momentum*/, double eps,
                                Tensor& out0, Tensor& out1, Tensor& out2) {
  batch_norm_no_training(context, {input, weight, bias, running_mean, running_var, eps}, out0, out1,
                         out2, scale_and_shift);
}

}  // namespace

VITRINE_KERNEL(native_batch_norm_legit_no_training_out,
               "aten::_native_batch_norm_legit_no_training.out", batch_norm_no_training_out);

}  // namespace vitrine::optimized
