// Division that may meet an integer zero.
#pragma once

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"

namespace vitrine {

// op(T, T) -> T in the common dtype of both; `other` is a tensor or a Scalar. Where the divisor is
// an integer zero the output is 0, and in the end the operator fails.
template <class Other, class Op>
void divide_checked(KernelContext& context, const Tensor& self, const Other& other, Tensor& out,
                    const Op& op) {
  bool met_zero = false;
  binary<RealTypes>(context, self, other, out, [&]<class T>(T a, T b) {
    if constexpr (is_integer_v<T>) {
      if (b == T(0)) {
        met_zero = true;
        return T(0);
      }
    }
    return op(a, b);
  });
  if (met_zero) context.fail(ErrorCode::kInvalidArgument, "integer division by zero");
}

// For remainders, whose Scalar is a tensor to PyTorch, rounded to the common dtype.
template <class Op>
void remainder_checked(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out,
                       const Op& op) {
  divide_checked(context, self, other, out, op);
}
template <class Op>
void remainder_checked(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out,
                       const Op& op) {
  divide_checked(context, self, rounded(other, promote(self.dtype(), other)), out, op);
}

}  // namespace vitrine
