// The operators add, sub and rsub, which scale `self` or `other` by `alpha`.
#pragma once

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"

namespace vitrine {

// Applies op(self, other, alpha) in the common dtype of `self` and `other`. `other` is a tensor or
// a Scalar.
template <class List, class Other, class Op>
void scaled_sum(KernelContext& context, const Tensor& self, const Other& other, const Scalar& alpha,
                Tensor& out, const Op& op) {
  const std::optional<ScalarType> common = promote(context, self, other);
  if (!common) return;
  if (alpha.is_floating() && !is_floating(*common)) {
    return context.fail(ErrorCode::kInvalidArgument, "alpha is a float, but the result is %s",
                        scalar_type_name(*common));
  }
  if (!check_scalar(context, alpha, *common, "alpha")) return;
  dispatch<List>(context, compute_type(*common), [&]<class T>() {
    const T scale = alpha.to<T>();
    const auto scaled = [&op, scale](T a, T b) { return op(a, b, scale); };
    binary_in<TypeList<T>, SameType>(context, *common, self, other, out, scaled);
  });
}

}  // namespace vitrine
