// The remainder has the sign of the divisor, as in Python.
#include "kernels/util/arithmetic.h"
#include "kernels/util/division.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kRemainder = [](auto a, auto b) { return remainder_floor(a, b); };

void remainder_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other,
                          Tensor& out) {
  divide_checked(context, self, other, out, kRemainder);
}

void remainder_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                          Tensor& out) {
  divide_checked(context, self, other, out, kRemainder);
}

}  // namespace

VITRINE_KERNEL(remainder_Scalar_out, "aten::remainder.Scalar_out", remainder_scalar_out);
VITRINE_KERNEL(remainder_Tensor_out, "aten::remainder.Tensor_out", remainder_tensor_out);

}  // namespace vitrine::portable
