// PyTorch's type promotion, as programs rely on it: 0-d tensors promote like any other (the export
// has made eager mode's exceptions explicit), and a Scalar weighs less than any tensor of its kind.
#pragma once

#include <optional>

#include "runtime/core/promotion.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/tensor.h"

namespace vitrine {

std::optional<ScalarType> promote_different(KernelContext& context, ScalarType a, ScalarType b);
// promote_types; fails the context where there is no common dtype.
[[nodiscard]] inline std::optional<ScalarType> promote(KernelContext& context, const Tensor& a,
                                                       const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  return promote_different(context, a.dtype(), b.dtype());
}

// With a Scalar: only a floating one changes a tensor of integers (to Float), and any number
// changes a tensor of Bool.
ScalarType promote(ScalarType tensor, const Scalar& scalar);
inline std::optional<ScalarType> promote(KernelContext&, const Tensor& tensor,
                                         const Scalar& scalar) {
  return promote(tensor.dtype(), scalar);
}

// What functions that give fractions compute: floating dtypes stay, the others become Float.
inline ScalarType promote_to_float(ScalarType type) {
  return is_floating(type) || is_complex(type) ? type : ScalarType::kFloat;
}

// Whether a result of dtype `from` may be put into an output of dtype `to`: a category may not fall
// from complex to real, from floating to integral, from number to Bool.
bool can_cast(ScalarType from, ScalarType to);

}  // namespace vitrine
