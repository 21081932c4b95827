// self - alpha * other
#include "kernels/util/scaled_sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kSubtract = [](auto a, auto b, auto alpha) {
  return wrapping_sub(a, wrapping_mul(alpha, b));
};

void sub_out(KernelContext& context, const Tensor& self, const Tensor& other, const Scalar& alpha,
             Tensor& out) {
  scaled_sum<RealTypes>(context, self, other, alpha, out, kSubtract);
}

void sub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                    const Scalar& alpha, Tensor& out) {
  scaled_sum<RealTypes>(context, self, other, alpha, out, kSubtract);
}

}  // namespace

VITRINE_KERNEL(sub_Scalar_out, "aten::sub.Scalar_out", sub_scalar_out);
VITRINE_KERNEL(sub_out, "aten::sub.out", sub_out);

}  // namespace vitrine::portable
