#include "kernels/util/group_norm.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void native_group_norm_out(KernelContext& context, const Tensor& input, const Tensor* weight,
                           const Tensor* bias, int64_t N, int64_t C, int64_t HxW, int64_t group,
                           double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  group_norm(context, input, weight, bias, N, C, HxW, group, eps, out0, out1, out2,
             normalize_groups);
}

}  // namespace

VITRINE_KERNEL(native_group_norm_out, "aten::native_group_norm.out", native_group_norm_out);

}  // namespace vitrine::portable
