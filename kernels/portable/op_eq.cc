#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kEqual = [](auto a, auto b) { return a == b; };

void eq_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  compare(context, self, other, out, kEqual);
}

void eq_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  compare(context, self, other, out, kEqual);
}

}  // namespace

VITRINE_KERNEL(eq_Scalar_out, "aten::eq.Scalar_out", eq_scalar_out);
VITRINE_KERNEL(eq_Tensor_out, "aten::eq.Tensor_out", eq_tensor_out);

}  // namespace vitrine::portable
