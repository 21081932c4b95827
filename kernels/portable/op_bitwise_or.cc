#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kBitwiseOr = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };

void bitwise_or_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other,
                           Tensor& out) {
  binary<IntBoolTypes>(context, self, other, out, kBitwiseOr);
}

void bitwise_or_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                           Tensor& out) {
  binary<IntBoolTypes>(context, self, other, out, kBitwiseOr);
}

}  // namespace

VITRINE_KERNEL(bitwise_or_Scalar_out, "aten::bitwise_or.Scalar_out", bitwise_or_scalar_out);
VITRINE_KERNEL(bitwise_or_Tensor_out, "aten::bitwise_or.Tensor_out", bitwise_or_tensor_out);

}  // namespace vitrine::portable
