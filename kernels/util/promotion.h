// PyTorch's type promotion. Unlike in eager mode, 0-d tensors promote like any other tensor,
// because exported programs contain explicit conversions for them. A Scalar changes a tensor's
// dtype only if the Scalar's category (Bool, integer, floating) is higher.
#pragma once

#include <optional>

#include "runtime/core/promotion.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/tensor.h"

namespace vitrine {

std::optional<ScalarType> promote_different(KernelContext& context, ScalarType a, ScalarType b);
// Returns the common dtype of two tensors. Fails the context if no common dtype exists.
[[nodiscard]] inline std::optional<ScalarType> promote(KernelContext& context, const Tensor& a,
                                                       const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  return promote_different(context, a.dtype(), b.dtype());
}

// Returns the common dtype of a tensor and a Scalar. A floating Scalar changes integers and Bool to
// Float; an integer Scalar changes only Bool, to Long.
ScalarType promote(ScalarType tensor, const Scalar& scalar);
inline std::optional<ScalarType> promote(KernelContext&, const Tensor& tensor,
                                         const Scalar& scalar) {
  return promote(tensor.dtype(), scalar);
}

// The dtype of functions with fractional results: floating and complex dtypes stay the same, other
// dtypes become Float.
inline ScalarType promote_to_float(ScalarType type) {
  return is_floating(type) || is_complex(type) ? type : ScalarType::kFloat;
}

// Returns true if a result of dtype `from` may be stored in an output of dtype `to`. Real outputs
// cannot hold complex results, integral outputs cannot hold floating results, and Bool outputs
// cannot hold numbers.
bool can_cast(ScalarType from, ScalarType to);

}  // namespace vitrine
