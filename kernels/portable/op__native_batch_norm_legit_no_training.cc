#include "kernels/util/batch_norm.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void no_training_out(KernelContext& context, const Tensor& input, const Tensor* weight,
                     const Tensor* bias, const Tensor& running_mean, const Tensor& running_var,
                     double /*momentum*/, double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  batch_norm_no_training(context, {input, weight, bias, running_mean, running_var, eps}, out0, out1,
                         out2, scale_and_shift);
}

}  // namespace

VITRINE_KERNEL(native_batch_norm_legit_no_training_out,
               "aten::_native_batch_norm_legit_no_training.out", no_training_out);

}  // namespace vitrine::portable
