// other - alpha * self
#include "kernels/util/scaled_sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void rsub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                     const Scalar& alpha, Tensor& out) {
  scaled_sum<RealTypes>(context, self, other, alpha, out, [](auto a, auto b, auto scale) {
    return wrapping_sub(b, wrapping_mul(scale, a));
  });
}

}  // namespace

VITRINE_KERNEL(rsub_Scalar_out, "aten::rsub.Scalar_out", rsub_scalar_out);

}  // namespace vitrine::portable
