#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kNotEqual = [](auto a, auto b) { return a != b; };

void ne_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  compare(context, self, other, out, kNotEqual);
}

void ne_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  compare(context, self, other, out, kNotEqual);
}

}  // namespace

VITRINE_KERNEL(ne_Scalar_out, "aten::ne.Scalar_out", ne_scalar_out);
VITRINE_KERNEL(ne_Tensor_out, "aten::ne.Tensor_out", ne_tensor_out);

}  // namespace vitrine::portable
