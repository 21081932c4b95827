#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kShiftRight = [](auto a, auto b) { return shift_right(a, b); };

void bitwise_right_shift_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other,
                                    Tensor& out) {
  binary<IntTypes>(context, self, other, out, kShiftRight);
}

void bitwise_right_shift_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other,
                                    Tensor& out) {
  binary<IntTypes>(context, self, other, out, kShiftRight);
}

}  // namespace

VITRINE_KERNEL(bitwise_right_shift_Tensor_Scalar_out, "aten::bitwise_right_shift.Tensor_Scalar_out",
               bitwise_right_shift_scalar_out);
VITRINE_KERNEL(bitwise_right_shift_Tensor_out, "aten::bitwise_right_shift.Tensor_out",
               bitwise_right_shift_tensor_out);
// What Python's operator exports as.
VITRINE_KERNEL(rshift_Scalar_out, "aten::__rshift__.Scalar_out", bitwise_right_shift_scalar_out);
VITRINE_KERNEL(rshift_Tensor_out, "aten::__rshift__.Tensor_out", bitwise_right_shift_tensor_out);

}  // namespace vitrine::portable
