#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kBitwiseXor = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };

void bitwise_xor_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other,
                            Tensor& out) {
  binary<IntBoolTypes>(context, self, other, out, kBitwiseXor);
}

void bitwise_xor_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                            Tensor& out) {
  binary<IntBoolTypes>(context, self, other, out, kBitwiseXor);
}

}  // namespace

VITRINE_KERNEL(bitwise_xor_Scalar_out, "aten::bitwise_xor.Scalar_out", bitwise_xor_scalar_out);
VITRINE_KERNEL(bitwise_xor_Tensor_out, "aten::bitwise_xor.Tensor_out", bitwise_xor_tensor_out);

}  // namespace vitrine::portable
