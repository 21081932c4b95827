#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kGreater = [](auto a, auto b) { return a > b; };

void gt_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  compare(context, self, other, out, kGreater);
}

void gt_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  compare(context, self, other, out, kGreater);
}

}  // namespace

VITRINE_KERNEL(gt_Scalar_out, "aten::gt.Scalar_out", gt_scalar_out);
VITRINE_KERNEL(gt_Tensor_out, "aten::gt.Tensor_out", gt_tensor_out);

}  // namespace vitrine::portable
