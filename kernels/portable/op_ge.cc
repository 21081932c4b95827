#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kGreaterOrEqual = [](auto a, auto b) { return a >= b; };

void ge_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  compare(context, self, other, out, kGreaterOrEqual);
}

void ge_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  compare(context, self, other, out, kGreaterOrEqual);
}

}  // namespace

VITRINE_KERNEL(ge_Scalar_out, "aten::ge.Scalar_out", ge_scalar_out);
VITRINE_KERNEL(ge_Tensor_out, "aten::ge.Tensor_out", ge_tensor_out);

}  // namespace vitrine::portable
