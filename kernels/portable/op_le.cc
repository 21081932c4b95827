#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kLessOrEqual = [](auto a, auto b) { return a <= b; };

void le_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  compare(context, self, other, out, kLessOrEqual);
}

void le_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  compare(context, self, other, out, kLessOrEqual);
}

}  // namespace

VITRINE_KERNEL(le_Scalar_out, "aten::le.Scalar_out", le_scalar_out);
VITRINE_KERNEL(le_Tensor_out, "aten::le.Tensor_out", le_tensor_out);

}  // namespace vitrine::portable
