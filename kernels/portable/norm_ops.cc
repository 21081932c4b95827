#include <array>

#include "kernels/util/batch_norm.h"
#include "kernels/util/group_norm.h"
#include "kernels/util/layer_norm.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void legit_out(KernelContext& context, const Tensor& input, const Tensor* weight,
               const Tensor* bias, Tensor& running_mean, Tensor& running_var, bool training,
               double /*momentum*/, double eps, Tensor& out, Tensor& save_mean,
               Tensor& save_invstd) {
  if (training) {
    return context.fail(ErrorCode::kNotSupported,
                        "training is true, but updates of statistics are not supported");
  }
  constexpr std::array<int32_t, 1> kNothing{0};  // nothing is saved for a backward pass
  if (!context.resize(save_mean, kNothing) || !context.resize(save_invstd, kNothing)) return;
  batch_norm(context, {input, weight, bias, running_mean, running_var, eps}, out);
}

void no_training_out(KernelContext& context, const Tensor& input, const Tensor* weight,
                     const Tensor* bias, const Tensor& running_mean, const Tensor& running_var,
                     double /*momentum*/, double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  batch_norm_no_training(context, {input, weight, bias, running_mean, running_var, eps}, out0, out1,
                         out2, scale_and_shift);
}

}  // namespace

VITRINE_KERNEL(native_batch_norm_legit_no_stats_out, "aten::_native_batch_norm_legit.no_stats_out",
               batch_norm_no_stats_out<normalize_groups>);
VITRINE_KERNEL(native_batch_norm_legit_out, "aten::_native_batch_norm_legit.out", legit_out);
VITRINE_KERNEL(native_batch_norm_legit_no_training_out,
               "aten::_native_batch_norm_legit_no_training.out", no_training_out);
VITRINE_KERNEL(native_group_norm_out, "aten::native_group_norm.out",
               native_group_norm_out<normalize_groups>);
VITRINE_KERNEL(native_layer_norm_out, "aten::native_layer_norm.out",
               native_layer_norm_out<normalize_rows>);

}  // namespace vitrine::portable
