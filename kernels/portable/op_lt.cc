#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kLess = [](auto a, auto b) { return a < b; };

void lt_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  compare(context, self, other, out, kLess);
}

void lt_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  compare(context, self, other, out, kLess);
}

}  // namespace

VITRINE_KERNEL(lt_Scalar_out, "aten::lt.Scalar_out", lt_scalar_out);
VITRINE_KERNEL(lt_Tensor_out, "aten::lt.Tensor_out", lt_tensor_out);

}  // namespace vitrine::portable
