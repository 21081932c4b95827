#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class Other>
void left_shift(KernelContext& context, const Tensor& self, const Other& other, Tensor& out) {
  binary<IntTypes>(context, self, other, out, [](auto a, auto b) { return shift_left(a, b); });
}

template <class Other>
void right_shift(KernelContext& context, const Tensor& self, const Other& other, Tensor& out) {
  binary<IntTypes>(context, self, other, out, [](auto a, auto b) { return shift_right(a, b); });
}

}  // namespace

VITRINE_KERNEL(bitwise_left_shift_Tensor_Scalar_out, "aten::bitwise_left_shift.Tensor_Scalar_out",
               left_shift<Scalar>);
VITRINE_KERNEL(bitwise_left_shift_Tensor_out, "aten::bitwise_left_shift.Tensor_out",
               left_shift<Tensor>);
VITRINE_KERNEL(bitwise_right_shift_Tensor_Scalar_out, "aten::bitwise_right_shift.Tensor_Scalar_out",
               right_shift<Scalar>);
VITRINE_KERNEL(bitwise_right_shift_Tensor_out, "aten::bitwise_right_shift.Tensor_out",
               right_shift<Tensor>);
// What Python's operators export as.
VITRINE_KERNEL(lshift_Scalar_out, "aten::__lshift__.Scalar_out", left_shift<Scalar>);
VITRINE_KERNEL(lshift_Tensor_out, "aten::__lshift__.Tensor_out", left_shift<Tensor>);
VITRINE_KERNEL(rshift_Scalar_out, "aten::__rshift__.Scalar_out", right_shift<Scalar>);
VITRINE_KERNEL(rshift_Tensor_out, "aten::__rshift__.Tensor_out", right_shift<Tensor>);

}  // namespace vitrine::portable
