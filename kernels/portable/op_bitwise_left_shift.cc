#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kShiftLeft = [](auto a, auto b) { return shift_left(a, b); };

void bitwise_left_shift_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other,
                                   Tensor& out) {
  binary<IntTypes>(context, self, other, out, kShiftLeft);
}

void bitwise_left_shift_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                                   Tensor& out) {
  binary<IntTypes>(context, self, other, out, kShiftLeft);
}

}  // namespace

VITRINE_KERNEL(bitwise_left_shift_Tensor_Scalar_out, "aten::bitwise_left_shift.Tensor_Scalar_out",
               bitwise_left_shift_scalar_out);
VITRINE_KERNEL(bitwise_left_shift_Tensor_out, "aten::bitwise_left_shift.Tensor_out",
               bitwise_left_shift_tensor_out);
// What Python's operator exports as.
VITRINE_KERNEL(lshift_Scalar_out, "aten::__lshift__.Scalar_out", bitwise_left_shift_scalar_out);
VITRINE_KERNEL(lshift_Tensor_out, "aten::__lshift__.Tensor_out", bitwise_left_shift_tensor_out);

}  // namespace vitrine::portable
