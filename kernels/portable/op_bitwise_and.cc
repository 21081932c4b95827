#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kBitwiseAnd = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };

void bitwise_and_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other,
                            Tensor& out) {
  binary<IntBoolTypes>(context, self, other, out, kBitwiseAnd);
}

void bitwise_and_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                            Tensor& out) {
  binary<IntBoolTypes>(context, self, other, out, kBitwiseAnd);
}

}  // namespace

VITRINE_KERNEL(bitwise_and_Scalar_out, "aten::bitwise_and.Scalar_out", bitwise_and_scalar_out);
VITRINE_KERNEL(bitwise_and_Tensor_out, "aten::bitwise_and.Tensor_out", bitwise_and_tensor_out);

}  // namespace vitrine::portable
