#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kMultiply = [](auto a, auto b) { return wrapping_mul(a, b); };

void mul_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  binary<RealBTypes>(context, self, other, out, kMultiply);
}

void mul_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  binary<RealBTypes>(context, self, other, out, kMultiply);
}

}  // namespace

VITRINE_KERNEL(mul_Scalar_out, "aten::mul.Scalar_out", mul_scalar_out);
VITRINE_KERNEL(mul_out, "aten::mul.out", mul_tensor_out);

}  // namespace vitrine::portable
