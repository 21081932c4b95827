#pragma once

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"

namespace vitrine {

// Applies op(T, T) -> T in the common dtype of `self` and `other` (a tensor or a Scalar). If an
// integer divisor is 0, the result is 0, and the context fails after the last element.
template <class Other, class Op>
void divide_checked(KernelContext& context, const Tensor& self, const Other& other, Tensor& out,
                    const Op& op) {
  bool found_zero = false;
  binary<RealTypes>(context, self, other, out, [&]<class T>(T a, T b) {
    if constexpr (is_integer_v<T>) {
      if (b == T(0)) {
        found_zero = true;
        return T(0);
      }
    }
    return op(a, b);
  });
  if (found_zero) context.fail(ErrorCode::kInvalidArgument, "integer division by zero");
}

// Like divide_checked(), but for remainders. As in PyTorch, a Scalar is rounded to the common
// dtype.
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
