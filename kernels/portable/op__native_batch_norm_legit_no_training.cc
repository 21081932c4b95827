#include <array>

#include "kernels/util/batch_norm.h"
#include "runtime/kernel/kernel.h"

namespace vitrine::portable {

namespace {

void no_training_out(KernelContext& context, const Tensor& input, const Tensor* weight,
                     const Tensor* bias, const Tensor& running_mean, const Tensor& running_var,
                     double /*momentum*/, double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr std::array<int32_t, 1> kNothing{0};  // nothing is saved for a backward pass
  if (!context.resize(out1, kNothing) || !context.resize(out2, kNothing)) return;
  batch_norm(context, {input, weight, bias, running_mean, running_var, eps}, out0);
}

}  // namespace

VITRINE_KERNEL(native_batch_norm_legit_no_training_out,
               "aten::_native_batch_norm_legit_no_training.out", no_training_out);

}  // namespace vitrine::portable
