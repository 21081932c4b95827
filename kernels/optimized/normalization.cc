// Batch norm, layer norm, group norm, softmax and its logarithm.
#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/parallel.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/batch_norm.h"
#include "kernels/util/checks.h"

namespace vitrine::optimized {

namespace {

void scale_and_shift(KernelContext& context, const Tensor& input, const Tensor& scale,
                     const Tensor& shift, Tensor& out) {
  if (input.dtype() == ScalarType::kFloat && scale.dtype() == ScalarType::kFloat &&
      out.dtype() == ScalarType::kFloat && input.is_contiguous() && out.is_contiguous()) {
    if (!context.resize(out, input.sizes())) return;
    const int64_t channels = input.size(1);
    const int64_t inner = size_product(input, 2, input.rank());
    const simd::Run run = simd::affine();
    parallel_ranges(context, input.size(0) * channels, 1, 3 * inner,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t plane = begin; plane < end; ++plane) {
                        const int64_t channel = plane % channels;
                        const float parameters[] = {scale.data<float>()[channel],
                                                    shift.data<float>()[channel], 0};
                        const void* const from = input.data<float>() + plane * inner;
                        run(&from, parameters, out.mutable_data<float>() + plane * inner, inner);
                      }
                    });
    return;
  }
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
